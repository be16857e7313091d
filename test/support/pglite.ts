import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'test/.projects');
// Another version may not be able to read these files.
const { version } = JSON.parse(
  readFileSync(join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
);
const EMPTY = join(FOLDER, `pglite-${version}.tar`);

let started: Promise<PGlite> | undefined;

/**
 * An empty database for one test, or for the tests of one file. Files of a worker share it, one after another, so
 * no test closes it.
 */
export async function openPglite(): Promise<PGlite> {
  started ??= start();
  const database = await started;
  await database.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  return database;
}

/** Creating a database takes seconds, so the first one is kept on disk and copied. */
async function start(): Promise<PGlite> {
  // Optimising its WebAssembly takes longer than these tests run: half the time of a database.
  setFlagsFromString('--liftoff-only');
  const kept = await readFile(EMPTY).catch(() => undefined);
  if (kept) return PGlite.create({ loadDataDir: new Blob([kept]) });
  const made = await PGlite.create();
  await mkdir(FOLDER, { recursive: true });
  // Renamed only when it is complete, because another process may look for it.
  const partial = `${EMPTY}.${randomUUID()}`;
  await writeFile(partial, (await made.dumpDataDir('none')).stream());
  await rename(partial, EMPTY);
  return made;
}

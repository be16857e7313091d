import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'test/.projects');
// Another version may not read what this one has written.
const { version } = JSON.parse(
  readFileSync(join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
);
const EMPTY = join(FOLDER, `pglite-${version}.tar`);

let started: Promise<PGlite> | undefined;

/**
 * An empty database, for one test or for the tests of one file. Files that share a worker share it, one after the
 * other: nobody closes it.
 */
export async function openPglite(): Promise<PGlite> {
  started ??= start();
  const database = await started;
  await database.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  return database;
}

/** To make a database takes seconds, so the first is kept on the disk, and the others copy it. */
async function start(): Promise<PGlite> {
  // To optimise its WebAssembly takes longer than these tests run: half the time of a database.
  setFlagsFromString('--liftoff-only');
  const kept = await readFile(EMPTY).catch(() => undefined);
  if (kept) return PGlite.create({ loadDataDir: new Blob([kept]) });
  const made = await PGlite.create();
  await mkdir(FOLDER, { recursive: true });
  // Under its name only when it is whole: another process may look for it.
  const partial = `${EMPTY}.${randomUUID()}`;
  await writeFile(partial, (await made.dumpDataDir('none')).stream());
  await rename(partial, EMPTY);
  return made;
}

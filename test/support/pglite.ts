import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'test/.projects');
// Another version may not read what this one has written.
const { version } = JSON.parse(
  readFileSync(join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
);
const EMPTY = join(FOLDER, `pglite-${version}.tar`);

/** An empty database of its own. To make one takes seconds, so the first is kept on the disk, and the others copy it. */
export async function openPglite(): Promise<PGlite> {
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

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { entryPoints } from '../../tsup.config.js';
import { ROOT } from './folder.js';
import { writeReference } from './reference.js';

/** The pages of a folder, by their names. */
function pagesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

const folder = join(ROOT, 'docs/api');

test('docs/api is what `npm run reference` writes', { timeout: 120_000 }, async () => {
  const written = mkdtempSync(join(tmpdir(), 'reference-'));
  onTestFinished(() => rmSync(written, { recursive: true }));
  await writeReference(written);
  expect(pagesOf(written)).toEqual(pagesOf(folder));
});

test('docs/api has a page for each subpath, without a path or a date of a machine', () => {
  const pages = pagesOf(folder);
  const names = Object.keys(entryPoints).map((name) => `${name}.md`);
  expect(Object.keys(pages)).toEqual(['README.md', ...names].sort());
  for (const text of Object.values(pages)) {
    expect(text).not.toContain(ROOT);
    expect(text).not.toMatch(/\bblob\/|Defined in|Generated (on|at|by)/);
  }
});

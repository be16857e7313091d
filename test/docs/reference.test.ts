import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeReference } from './reference.js';

test('docs/api/ is what the doc comments say: npm run reference', { timeout: 120_000 }, () => {
  const written = new Map(
    readdirSync('docs/api').map((file) => [file, readFileSync(`docs/api/${file}`, 'utf8')]),
  );
  const pages = makeReference();
  expect([...written.keys()].sort()).toEqual([...pages.keys()].sort());
  for (const [file, text] of pages) {
    expect(written.get(file), file).toBe(text);
    expect(text).not.toContain(process.cwd());
  }
});

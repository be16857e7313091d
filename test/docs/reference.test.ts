import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeReference } from './reference.js';

// Written anew: npm run reference
test('docs/api/ is what the doc comments say', { timeout: 120_000 }, async () => {
  const pages = makeReference();
  for (const [file, text] of pages) {
    await expect(text).toMatchFileSnapshot(`../../docs/api/${file}`);
  }
  expect(readdirSync('docs/api').sort()).toEqual([...pages.keys()].sort());
  for (const text of pages.values()) expect(text).not.toContain(process.cwd());
});

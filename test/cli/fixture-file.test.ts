import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { highestNumber, numbersIn, toFileName, writeNew } from '../../src/cli/fixture-file.js';
import { newFolder } from '../support/folders.js';

test('an existing file is not changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  expect(writeNew(folder, 'a.hook.json', 'first')).toBe(join(folder, 'a.hook.json'));
  expect(writeNew(folder, 'a.hook.json', 'second')).toBeUndefined();
  expect(readFileSync(join(folder, 'a.hook.json'), 'utf8')).toBe('first');
  rmSync(folder, { recursive: true });
});

test('the highest number is found in a folder of many files', () => {
  const names = Array.from({ length: 300_000 }, (_, at) => `${`${at}`.padStart(4, '0')}-x.json`);
  expect(highestNumber([...names, 'notes.txt'])).toBe(299_999);
  expect(highestNumber([])).toBe(0);
});

test('files are numbered from the highest number on, also from 10000 on', () => {
  const folder = newFolder();
  for (const name of ['9999-order-paid', '10000-order-paid', '99-bottles', 'notes'])
    writeFileSync(join(folder, `${name}.hook.json`), '');
  const next = numbersIn(folder);
  expect([next(), next()]).toEqual([10_001, 10_002]);
});

test.each([
  ['order:paid', 'order-paid'],
  ['product:out_of_stock', 'product-out_of_stock'],
  ['../../etc/passwd', 'etc-passwd'],
  ['C:\\x\0y', 'c-x-y'],
  ['…', 'unknown'],
  ['x'.repeat(300), 'x'.repeat(40)],
])('an event named %j becomes %s in a file name', (event, name) => {
  expect(toFileName(event)).toBe(name);
});

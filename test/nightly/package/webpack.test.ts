import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { removeFolders, run } from '../../package/folder.js';
import { install } from '../../package/older.js';
import { packBuilt } from '../../package/packed.js';

afterAll(removeFolders);

const PROGRAM = `
import { createReceiver } from 'storefront-webhooks';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { replay } from 'storefront-webhooks/testing';

const receiver = createReceiver({ secret: 'any' }).onPaid(async () => {});
const { outcome } = await replay(receiver, 'order:paid');
const sandbox = createSandbox({ db: 'sandbox.db' });
await sandbox.close();
console.log(outcome);
`;

const BUILD = `
import webpack from 'webpack';

const config = {
  ...{ mode: 'production', target: 'node', entry: './program.mjs', context: import.meta.dirname },
  output: { path: import.meta.dirname, filename: 'bundled.cjs' },
};
webpack(config, (error, stats) => {
  if (error) throw error;
  const { errors, warnings } = stats.toJson();
  console.log(JSON.stringify([...errors, ...warnings].map(({ message }) => message)));
});
`;

test('a bundle of webpack finds the fixtures and SQLite, and its build warns of nothing', async () => {
  // Node 20 needs libsql for the file of a sandbox.
  const folder = await install([await packBuilt(), 'webpack@5.113.0', 'libsql@0.5.29']);
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  writeFileSync(join(folder, 'build.mjs'), BUILD);
  expect(JSON.parse(await run(folder, process.execPath, 'build.mjs'))).toEqual([]);
  expect(await run(folder, process.execPath, 'bundled.cjs')).toBe('handled\n');
});

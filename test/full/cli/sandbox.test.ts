import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { chooseUnknowns } from '../../../src/sandbox/unknowns.js';
import { begin } from '../../cli/command.js';

const isMissing = spawnSync('curl', ['--version']).status !== 0 && !process.env.CI;
const run = promisify(execFile);

/** A seed with which an older sandbox takes basic authentication only. */
const seed = Array.from({ length: 100 }, (_, at) => at).find(
  (at) => chooseUnknowns({}, at).credentials === 'by-variant',
);

describe
  .skipIf(isMissing)
  .each([
    { flags: [] },
    { flags: ['--variant', 'older', '--unknowns', 'vary', '--seed', `${seed}`] },
  ])('storefront-webhooks sandbox $flags and curl (apt-get install curl)', ({ flags }) => {
  test('has a shop page that shows how to create the first product', async () => {
    const sandbox = begin(['sandbox', '--port', '0', ...flags]);
    try {
      const [, origin = ''] = await sandbox.says(/"url":"([^"]+)"/);
      const page = async () => (await fetch(`${origin}/shop/demo`)).text();
      const [, command = ''] = /<pre>(curl [^<]*)<\/pre>/.exec(await page()) ?? [];
      const { stdout } = await run('sh', ['-c', command.replaceAll('&#39;', "'")]);
      expect(JSON.parse(stdout)).toMatchObject({ title: 'First product', stock: 2 });
      expect(await page()).toMatch(/First product[\s\S]*2 in stock/);
    } finally {
      sandbox.interrupt();
      await sandbox.ended;
    }
  });

  test('prints a command that works', async () => {
    const sandbox = begin(['sandbox', '--port', '0', ...flags], {}, { columns: 80 });
    try {
      const [, command = ''] = await sandbox.says(/Try:\s+(curl .*\/products)/);
      const { stdout } = await run('sh', ['-c', command]);
      expect(JSON.parse(stdout)).toEqual([]);
    } finally {
      sandbox.interrupt();
      await sandbox.ended;
    }
  });
});

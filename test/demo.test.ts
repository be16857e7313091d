import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installed, withRuntimes } from './runtimes/installed.js';

const timeout = 60_000;

async function linesOn(node: string): Promise<string[]> {
  const args = ['--import', 'tsx', 'examples/demo.ts'];
  const { stdout } = await promisify(execFile)(node, args);
  return stdout.trimEnd().split('\n');
}

test('the demo shows what each delivery was answered, and ends by itself', {
  timeout,
}, async () => {
  const lines = await linesOn(process.execPath);
  expect(lines[0]).toMatch(/^EVENT +ID +SIGNATURE +OUTCOME +STATUS +MS/);
  const table = lines.slice(1, -2).map((line) => line.replace(/ +/g, ' '));
  for (const start of [
    'order:paid whl_0001 valid handled 200',
    'order:paid whl_0001 valid duplicate 200',
    'order:paid whl_0038 REFUSED rejected 401',
    'order:paid whl_0040 valid rejected 422',
    'query:replied whl_0027 valid failed 500',
    'query:replied whl_0027 valid handled 200',
    'subscription:renewed whl_0031 valid ignored 200',
  ]) {
    expect(table.filter((line) => line.startsWith(start))).not.toEqual([]);
  }
  expect(lines.at(-1)).toMatch(/^\d+ deliveries, .*, 0 of them not answered as expected/);
});

withRuntimes('the demo on Node 24', () => {
  test('remembers in SQLite', { timeout }, async () => {
    const lines = await linesOn(installed('node24/bin/node'));
    expect(lines.at(-1)).toMatch(/^\d+ deliveries, remembered in SQLite, 0 of them not/);
  });
});

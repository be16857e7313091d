import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compileProgram } from '../support/program.js';

test("a custom store passes the published tests in Node's test runner", async () => {
  const args = ['--test', await compileProgram('examples/own-store/store.test.ts', 'build')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [, passed = ''] = /^# pass (\d+)$/m.exec(stdout) ?? [];
  expect(Number(passed)).toBeGreaterThan(100);
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'vitest';

test('the Nest examples compile with the decorators of Nest', async () => {
  await promisify(execFile)('node_modules/.bin/tsc', ['-p', 'examples/nest']);
});

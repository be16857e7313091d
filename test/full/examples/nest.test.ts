import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'vitest';

test('the Nest examples fit their types, with the decorators that Nest needs', async () => {
  await promisify(execFile)('node_modules/.bin/tsc', ['-p', 'examples/nest']);
});

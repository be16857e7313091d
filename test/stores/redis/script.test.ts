import { expect, test, vi } from 'vitest';
import { Script } from '../../../src/stores/redis/script.js';

test('the error of a script that the server did not know is reported as well', async () => {
  const readOnly = new Error('READONLY You cannot write against a read only replica.');
  const failed = vi.fn();
  const calls = {
    evalSha: () => Promise.reject(new Error('NOSCRIPT No matching script.')),
    eval: () => Promise.reject(readOnly),
    failed,
  };
  await expect(new Script('return "="').run(calls, [], [])).rejects.toBe(readOnly);
  expect(failed).toHaveBeenCalledExactlyOnceWith(readOnly);
});

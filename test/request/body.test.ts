import { expect, test, vi } from 'vitest';
import { readBody } from '../../src/request/body.js';
import type { ReadBody } from '../../src/request/request.js';

const bytes = Uint8Array.from([1, 2, 3]);
const rules = { limit: 5, bodyTimeoutMs: 20 };

test.each<[string, string | undefined, ReadBody]>([
  [
    'has arrived',
    undefined,
    async (_, onBytes) => {
      onBytes(3);
      return bytes;
    },
  ],
  [
    'is too large',
    'body_too_large',
    async (_, onBytes) => {
      onBytes(6);
      return bytes;
    },
  ],
  ['breaks off', 'body_incomplete', () => Promise.reject(new Error('ECONNRESET'))],
  ['is late', 'body_late', () => new Promise(() => {})],
])('a body that %s leaves the budget of the bodies that are being read', async (_, code, read) => {
  const reading = {};
  const budget = { begin: vi.fn(() => reading), add: vi.fn(), end: vi.fn() };
  const body = await readBody(read, rules, budget);
  expect('code' in body ? body.code : undefined).toBe(code);
  expect(budget.end).toHaveBeenCalledWith(reading);
});

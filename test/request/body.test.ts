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
  const release = vi.fn();
  const releasing: ReadBody = (limit, onBytes, whenOver) => {
    whenOver(release);
    return read(limit, onBytes, whenOver);
  };
  const body = await readBody(releasing, rules, budget);
  expect('code' in body ? body.code : undefined).toBe(code);
  expect(budget.end).toHaveBeenCalledWith(reading);
  expect(release).toHaveBeenCalled();
});

test('a body takes no further piece after its time', async () => {
  let onPiece = (_bytes: number) => {};
  const late: ReadBody = (_, onBytes) => {
    onPiece = onBytes;
    onPiece(1);
    return new Promise(() => {});
  };
  expect(await readBody(late, rules)).toMatchObject({ code: 'body_late' });
  expect(() => onPiece(1)).toThrow('stopped reading');
});

test('a body does not take the piece for which the budget gives it up', async () => {
  let evict = () => {};
  const budget = {
    begin(giveUp: () => void) {
      evict = giveUp;
      return {};
    },
    add: () => evict(),
    end() {},
  };
  const taken = vi.fn();
  const oldest: ReadBody = async (_, onBytes) => {
    onBytes(1);
    taken();
    return bytes;
  };
  expect(await readBody(oldest, rules, budget)).toMatchObject({ code: 'body_late' });
  expect(taken).not.toHaveBeenCalled();
});

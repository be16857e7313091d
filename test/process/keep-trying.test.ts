import { expect, test, vi } from 'vitest';
import { keepTrying } from '../../src/runtime/timing.js';
import { skipWaits } from '../support/clock.js';

test('a record that the store does not accept is tried each second, for five minutes', async () => {
  skipWaits();
  const startedAt = performance.now();
  const triedAt: number[] = [];
  const write = async () => {
    triedAt.push(performance.now() - startedAt);
    throw new Error('it is down');
  };
  expect(await keepTrying(write, { isOver: () => false })).toBeUndefined();
  const later = triedAt.filter((at) => at > 1_000);
  expect(triedAt.slice(0, -later.length)).toEqual([250, 750]);
  expect(new Set(later.slice(1).map((at, index) => at - (later[index] ?? 0)))).toEqual(
    new Set([1_000]),
  );
  expect(later.at(-1)).toBe(300_750);
});

test('a process that was frozen for longer than the retries of a write tries the write once more', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(600_000);
  const write = vi.fn(async () => 'written');
  expect(await keepTrying(write, { isOver: () => false, onFailed: () => {} })).toBe('written');
  write.mockRejectedValue(new Error('it is still down'));
  now.mockReturnValueOnce(0);
  expect(await keepTrying(write, { isOver: () => false, onFailed: () => {} })).toBeUndefined();
  expect(write).toHaveBeenCalledTimes(2);
  now.mockRestore();
});

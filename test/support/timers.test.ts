import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { endTimers } from './timers.js';

test('a timer that a file leaves running does not fire after it', async () => {
  const fired: string[] = [];
  setTimeout(() => fired.push('setTimeout'), 10);
  setInterval(() => fired.push('setInterval'), 10);
  endTimers();
  await pause(40);
  expect(fired).toEqual([]);
});

test('timers work as before', async () => {
  const order: number[] = [];
  await new Promise<void>((resolve) => {
    setTimeout((...numbers: number[]) => order.push(...numbers), 1, 1, 2);
    clearTimeout(setTimeout(() => order.push(3), 1));
    const often = setInterval(() => {
      if (order.push(4) < 4) return;
      clearInterval(often);
      resolve();
    }, 5);
  });
  expect(order).toEqual([1, 2, 4, 4]);
  expect(await promisify(setTimeout)(1, 'done')).toBe('done');
});

test('an immediate of fake timers is refused by the real clearImmediate, which would miscount', () => {
  vi.useFakeTimers();
  const fake = setImmediate(() => {});
  vi.useRealTimers();
  expect(() => clearImmediate(fake)).toThrow('an immediate of fake timers');
  clearImmediate(setImmediate(() => {}));
  clearImmediate(undefined);
});

import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { afterTurn } from '../../src/runtime/timing.js';
import { stillClocks } from '../support/still-clocks.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
});
afterEach(() => {
  // In this order: each of them puts back what it found.
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
// The next file must not take the modules of another runtime.
afterAll(() => void vi.resetModules());

test('makes no timer for work that ends within its turn', () => {
  const callback = vi.fn();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  afterTurn(callback, 100)();
  vi.advanceTimersByTime(200);
  expect(timers).not.toHaveBeenCalled();
  expect(callback).not.toHaveBeenCalled();
});

test('calls back after the time if the work has not ended, unless it is stopped', () => {
  const [late, stopped] = [vi.fn(), vi.fn()];
  afterTurn(late, 100);
  const stop = afterTurn(stopped, 100);
  vi.advanceTimersByTime(50);
  stop();
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(51);
  expect(late).toHaveBeenCalledOnce();
  expect(stopped).not.toHaveBeenCalled();
});

// Node's clearImmediate miscounts if it is given a fake immediate, and no later one of the process calls back.
test.each(stillClocks)(
  'stops after %s were removed, and setImmediate still works',
  async (_, install) => {
    vi.useRealTimers();
    const remove = install();
    const stop = afterTurn(() => {}, 100);
    remove();
    stop();
    const turns = vi.fn();
    setImmediate(turns);
    await vi.waitFor(() => expect(turns).toHaveBeenCalledOnce());
  },
);

test.each([
  ['counts a turn that took long', 80, 20],
  ['calls back at once after a turn that took longer than the time', 5_000, 0],
])('%s', (_, turnMs, leftMs) => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  afterTurn(() => {}, 100);
  now.mockReturnValue(1_000 + turnMs);
  vi.advanceTimersToNextTimer();
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([leftMs]);
});

function unsupported(): never {
  throw new Error('A Node.js API is used which is not supported in the Edge Runtime.');
}

const RUNTIMES = [
  ['without setImmediate', {}],
  ['of Next.js at the edge, whose setImmediate throws', { EdgeRuntime: 'edge-runtime' }],
] as const;

/** Makes the globals those of another runtime. */
function pretend(globals: object): void {
  const made = 'EdgeRuntime' in globals ? unsupported : undefined;
  const all = { setImmediate: made, clearImmediate: made, ...globals };
  for (const [name, value] of Object.entries(all)) vi.stubGlobal(name, value);
}

test.each(RUNTIMES)('makes the timer at once on a runtime %s', (_, globals) => {
  pretend(globals);
  const callback = vi.fn();
  const stop = afterTurn(callback, 100);
  expect(vi.getTimerCount()).toBe(1);
  stop();
  afterTurn(callback, 100);
  vi.advanceTimersByTime(100);
  expect(callback).toHaveBeenCalledOnce();
});

test.each(RUNTIMES)('calls back at the end of a turn on a runtime %s', async (_, globals) => {
  vi.useRealTimers();
  pretend(globals);
  vi.resetModules();
  const { atEndOfTurn } = await import('../../src/runtime/turn.js');
  const called = vi.fn();
  atEndOfTurn(called);
  expect(called).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(called).toHaveBeenCalledOnce());
});

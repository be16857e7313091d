import { describe, expect, test, vi } from 'vitest';
import { InFlight } from '../../src/process/in-flight.js';
import type { Dispatched } from '../../src/request/outcome.js';

/** Captured here, so that a test's fake clock does not replace it. */
const nextTurn = setImmediate;

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('copies of a delivery in one process', () => {
  // Workers end the work of a request silently, as this promise that never settles does.
  const never = () => new Promise<never>(() => {});
  const HANDLED = { outcome: 'handled', ran: ['mail'] } as const;
  const mustNotRun = () => Promise.reject(new Error('The copy ran beside the first one.'));
  /** Returns the outcome of a copy if it has one by now, and does not wait for it otherwise. */
  const now = <Result>(copy: Promise<Result>) =>
    Promise.race([copy, new Promise(nextTurn).then(() => 'still waits')]);

  test('share the outcome of the first', async () => {
    const inFlight = new InFlight(1_000);
    const { promise, resolve } = deferred<typeof HANDLED>();
    const first = inFlight.join('key', () => promise);
    const second = inFlight.join('key', mustNotRun);
    resolve(HANDLED);
    expect(await first).toEqual(HANDLED);
    expect(await now(second)).toEqual({ outcome: 'duplicate', ran: [] });
    expect(await now(inFlight.join('key', async () => HANDLED))).toEqual(HANDLED);
  });

  test.each(['parked', 'failed', 'busy', 'unavailable', 'queued', 'duplicate'] as const)(
    'are %s as the first is, because no copy has done more',
    async (outcome) => {
      const inFlight = new InFlight(1_000);
      const { promise, resolve } = deferred<Dispatched>();
      const first = inFlight.join('key', () => promise);
      const second = inFlight.join('key', mustNotRun);
      resolve({ outcome, ran: ['mail'] });
      expect(await first).toEqual({ outcome, ran: ['mail'] });
      expect(await now(second)).toEqual({ outcome, ran: [] });
    },
  );

  test('do not wait forever for a first copy that never ends: one of them runs, and the others share it', async () => {
    vi.useFakeTimers();
    try {
      const inFlight = new InFlight(1_000);
      void inFlight.join('key', never);
      const { promise, resolve } = deferred<typeof HANDLED>();
      const run = vi.fn(() => promise);
      const copies = [inFlight.join('key', run), inFlight.join('key', run)];
      await vi.advanceTimersByTimeAsync(30_900);
      expect(run).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(101);
      expect(run).toHaveBeenCalledOnce();
      resolve(HANDLED);
      expect(await now(Promise.all(copies))).toEqual([HANDLED, { outcome: 'duplicate', ran: [] }]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('share a later run, even after the first run, which took too long, has ended', async () => {
    vi.useFakeTimers();
    try {
      const inFlight = new InFlight(1_000);
      const [first, later] = [deferred<typeof HANDLED>(), deferred<typeof HANDLED>()];
      void inFlight.join('key', () => first.promise);
      await vi.advanceTimersByTimeAsync(31_001);
      const running = inFlight.join('key', () => later.promise);
      first.resolve(HANDLED);
      await first.promise;
      const again = vi.fn(async () => HANDLED);
      const copy = inFlight.join('key', again);
      expect(again).not.toHaveBeenCalled();
      later.resolve(HANDLED);
      expect([await running, await copy]).toEqual([HANDLED, { outcome: 'duplicate', ran: [] }]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('wait for a first copy without a time limit', async () => {
    const inFlight = new InFlight(2 ** 31 - 1);
    const { promise, resolve } = deferred<typeof HANDLED>();
    void inFlight.join('key', () => promise);
    const second = inFlight.join('key', mustNotRun);
    setTimeout(() => resolve(HANDLED), 20);
    expect(await second).toEqual({ outcome: 'duplicate', ran: [] });
  });
});

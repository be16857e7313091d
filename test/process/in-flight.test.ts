import { describe, expect, test, vi } from 'vitest';
import { InFlight } from '../../src/process/in-flight.js';

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('copies in one process', () => {
  // As on Workers, which end the work of a request silently.
  const never = () => new Promise<never>(() => {});
  const HANDLED = { outcome: 'handled', ran: ['mail'] } as const;

  test('share the outcome of the first', async () => {
    const inFlight = new InFlight(1_000);
    const { promise, resolve } = deferred<typeof HANDLED>();
    const first = inFlight.join('key', () => promise);
    const second = inFlight.join('key', never);
    resolve(HANDLED);
    expect(await first).toEqual(HANDLED);
    expect(await second).toEqual({ outcome: 'duplicate', ran: [] });
    expect(await inFlight.join('key', async () => HANDLED)).toEqual(HANDLED);
  });

  test('do not wait forever for a first one that never ends, and a later one runs', async () => {
    vi.useFakeTimers();
    try {
      const inFlight = new InFlight(1_000);
      void inFlight.join('key', never);
      const second = inFlight.join('key', async () => HANDLED);
      await vi.advanceTimersByTimeAsync(31_001);
      expect(await second).toEqual({ outcome: 'busy', ran: [] });
      expect(await inFlight.join('key', async () => HANDLED)).toEqual(HANDLED);
    } finally {
      vi.useRealTimers();
    }
  });

  test('wait for a first one without a time limit', async () => {
    const inFlight = new InFlight(2 ** 31 - 1);
    const { promise, resolve } = deferred<typeof HANDLED>();
    void inFlight.join('key', () => promise);
    const second = inFlight.join('key', never);
    setTimeout(() => resolve(HANDLED), 20);
    expect(await second).toEqual({ outcome: 'duplicate', ran: [] });
  });
});

import { type IdempotencyStore, WebhookError } from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { guardStore } from '../../src/stores/guard.js';
import { durableStore } from '../support/durable.js';

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockImplementation((line: string) => {
    // All files of a worker share the clock, and calls of their stores may still be pending.
    if (line.includes(' Redis ')) lines.push(line);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A store whose calls end in the given ways, one after another; `undefined` is an answer. */
function storeThat(...ends: (Error | 'hangs' | undefined)[]): IdempotencyStore {
  const store = durableStore(() => ({
    async redrive() {
      const end = ends.shift();
      if (end === 'hangs') return new Promise<never>(() => {});
      if (end) throw end;
      return true;
    },
  }));
  // As withContract wraps each store.
  return guardStore(forward({ ...store, description: 'Redis', whenSilent: 'Set a limit.' }));
}

async function ask(store: IdempotencyStore, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    const asked = store.redrive('key').catch(() => {});
    await vi.advanceTimersByTimeAsync(10_000);
    await asked;
  }
}

const LINE =
  'storefront-webhooks: Redis has not answered 3 calls in a row: it is overloaded, or its connection is dead. Set a limit. ' +
  'See node_modules/storefront-webhooks/docs/operate.md#store-silent';
const late = new Error('Query read timeout');

describe('a store that does not answer in time', () => {
  test.each<[string, Error | 'hangs']>([
    ['hangs', 'hangs'],
    ['pg, for an answer', late],
    ['pg, to connect', new Error('timeout exceeded when trying to connect')],
    ['pg, to open', new Error('Connection terminated due to connection timeout')],
    ['ioredis', new Error('Command timed out')],
    ['node-redis', new Error("Socket timeout timeout. Expecting data, but didn't receive any.")],
    ['Upstash', new DOMException('The operation was aborted due to timeout', 'TimeoutError')],
    ['a batch', new WebhookError('timed_out', 'The call waited 10000 ms for its turn.')],
  ])('three times in a row is logged once: %s', async (_, end) => {
    const store = storeThat(end, end, end, end, end);
    await ask(store, 2);
    expect(lines).toEqual([]);
    await ask(store, 3);
    expect(lines).toEqual([LINE]);
  });

  test('is logged again after a minute', async () => {
    const store = storeThat(...Array(10).fill(late));
    await ask(store, 8);
    expect(lines).toHaveLength(1);
    await ask(store, 2);
    expect(lines).toHaveLength(2);
  });

  test('is not logged if answers come in between', async () => {
    const store = storeThat(late, late, undefined, late, late, new Error('refused'), late, late);
    await ask(store, 8);
    expect(lines).toEqual([]);
  });

  test('does not include a server that reports a timeout of its own', async () => {
    const answer = Object.assign(new Error('canceling statement due to lock timeout'), {
      code: '55P03',
    });
    await ask(storeThat(answer, answer, answer, answer), 4);
    expect(lines).toEqual([]);
  });
});

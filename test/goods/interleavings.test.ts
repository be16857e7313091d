import * as fc from 'fast-check';
import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { runs } from '../support/tier.js';
import { call, SECRET } from './calls.js';

/** The fault of one call of a store. */
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('done' as const), ms: fc.nat(12) }) },
  // The call fails before the store executes it (`failed`), or the answer is lost afterwards (`lost`).
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('lost', 'failed'), ms: fc.nat(12) }),
  },
);

/** A server for goods that may freeze while others take over, or die at one of its calls. */
const server = fc.record({
  startMs: fc.nat(60),
  makeMs: fc.nat(60),
  /** The lease in the store. The server assumes ten seconds. */
  leaseMs: fc.integer({ min: 5, max: 80 }),
  diesAt: fc.option(fc.nat(4), { nil: Number.POSITIVE_INFINITY }),
  fates: fc.array(fate, { minLength: 8, maxLength: 8 }),
});

type Server = typeof server extends fc.Arbitrary<infer Value> ? Value : never;

// Only timers wait, so with a fake clock the seed alone decides the order of events.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function faulty(store: IdempotencyStore, { leaseMs, diesAt, fates }: Server): IdempotencyStore {
  let calls = 0;
  return forward(
    forward(store, {
      claim: (delivery, lease) => store.claim(delivery, { ...lease, leaseMs }),
    }),
    {},
    async (run) => {
      const at = calls++;
      const { kind, ms } = fates[at % fates.length] ?? { kind: 'done', ms: 0 };
      await pause(ms);
      // The server never answers again.
      if (at >= diesAt) return new Promise(() => {});
      if (kind === 'failed') throw new Error('connection refused');
      const value = await run();
      if (kind === 'lost') throw new Error('connection reset');
      return value;
    },
  );
}

/** Concurrent runs, to shorten the test. */
const orders = fc.array(fc.array(server, { minLength: 2, maxLength: 4 }), {
  minLength: 12,
  maxLength: 12,
});

test('whatever fails, freezes or dies in between, no order gets two different goods', async () => {
  let made = 0;
  let answered = 0;

  async function ask(store: IdempotencyStore, makeMs: number, given: string[]): Promise<number> {
    const goods = createGoods({ secret: SECRET, store, hooks: { onError() {} } }, async () => {
      const key = `KEY-${++made}`;
      await pause(makeMs);
      return key;
    });
    const { status, body } = await call(goods);
    if (status === 200) given.push(body);
    return status;
  }

  async function askAll(servers: readonly Server[]): Promise<void> {
    const store = memoryStore();
    const given: string[] = [];
    const asked = servers.map(async (one) => {
      await pause(one.startMs);
      // A dead one never answers.
      await Promise.race([ask(faulty(store, one), one.makeMs, given), pause(1_000)]);
    });
    await Promise.all(asked);
    expect(await ask(store, 0, given)).toBe(200);
    expect(new Set(given).size).toBe(1);
    answered += given.length;
  }

  await fc.assert(
    fc.asyncProperty(orders, async (all) => {
      let isOver = false;
      const over = Promise.all(all.map(askAll)).finally(() => {
        isOver = true;
      });
      // A rejection is thrown below.
      over.catch(() => {});
      while (!isOver) await vi.advanceTimersByTimeAsync(20);
      await over;
    }),
    { numRuns: runs(8), endOnFailure: true },
  );
  // Otherwise the test did nothing: more goods were made than orders, and more calls answered.
  expect(made).toBeGreaterThan(120);
  expect(answered).toBeGreaterThan(150);
});

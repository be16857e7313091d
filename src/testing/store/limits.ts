import assert from 'node:assert/strict';
import { LONG_AGO_MS, newDelivery, type StoreTest } from './tested.js';

/** Limits that plain JavaScript may pass, and how many of three deliveries each one returns. */
const LIMITS: readonly (readonly [limit: number, given: number])[] = [
  [Number.NaN, 0],
  [-1, 0],
  [0, 0],
  [0.5, 0],
  [JSON.parse('"9"'), 0],
  [Number.NEGATIVE_INFINITY, 0],
  [2.9, 2],
  [Number.MAX_VALUE, 3],
  [Number.POSITIVE_INFINITY, 3],
];

/** Defines the tests of limits: the same rule for both verbs that take one. */
export function defineLimits(test: StoreTest): void {
  for (const [limit, given] of LIMITS) {
    test(`lists, for a limit of ${limit}, ${given} of three dead deliveries`, async (tested) => {
      const { store, fail } = tested;
      for (const one of [newDelivery(), newDelivery(), newDelivery()]) {
        await fail(one, { permanent: true });
      }
      const listed = await store.list({ state: 'dead', limit });
      assert.equal(listed.length, given);
    });
  }

  test('lists up to a hundred without a limit', async ({ store, fail }) => {
    for (const one of [newDelivery(), newDelivery()]) {
      await fail(one, { permanent: true });
    }
    assert.equal((await store.list({ state: 'dead' })).length, 2);
  });

  for (const state of ['failed', undefined]) {
    test(`rejects an unknown state: ${state}`, async ({ store }) => {
      const unknown = JSON.parse(JSON.stringify({ state }));
      const message = /'dead', 'stalled' and 'failing'/;
      await assert.rejects(store.list(unknown), { message });
      await assert.rejects(store.count(unknown), { message });
    });
  }

  for (const [limit, given] of LIMITS) {
    test(`purges, for a limit of ${limit}, ${given} of three old deliveries`, async (tested) => {
      const { store, acquire } = tested;
      for (const one of [newDelivery(), newDelivery(), newDelivery()]) {
        const { fence } = await acquire({ leaseMs: LONG_AGO_MS, keepMs: 0 }, one);
        // A store in memory marks nothing as abandoned. Only done deliveries expire there.
        if (!store.durable) await store.complete(one.key, fence, 0);
      }
      assert.equal(await store.purge(limit), given);
      assert.equal(await store.purge(9), 3 - given);
    });
  }
}

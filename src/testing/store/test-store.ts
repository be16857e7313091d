import assert from 'node:assert/strict';
import type { IdempotencyStore } from '../../stores/store.js';
import { hasParts, TEST_MS, type TestRunner } from '../suite.js';
import { defineAttempts } from './attempts.js';
import { defineKeeping } from './keep-suite.js';
import { defineLeases } from './leases.js';
import { defineLimits } from './limits.js';
import { defineListing } from './list-suite.js';
import { definePages } from './pages.js';
import { RETRY, type StoreTest, type Tested, toTested } from './tested.js';

/** Options of {@link testStore}: how to open stores, and what is particular to them. */
export interface StoreSuite {
  /** Opens an empty store for one test. */
  open(): IdempotencyStore | Promise<IdempotencyStore>;
  /** Closes a store that `open` has opened, after each test. */
  close?(store: IdempotencyStore): unknown;
  /**
   * Makes two minutes pass for a delivery: its lease or its retry becomes due two minutes earlier. Without
   * `age`, the suite skips its tests of a delivery that is never retried.
   */
  age?(key: string): unknown;
  /** Whether done deliveries expire by themselves, so that `purge` does not count them. Default: false. */
  readonly expires?: boolean;
}

/**
 * Defines the tests that every store of this package passes, for one of your own: verb by verb, the contract
 * of {@link IdempotencyStore}. Run them against the real store.
 *
 * @param name - The name of the store, for the names of the tests.
 * @param runner - `{ describe, test }` of `node:test`, Vitest or Jest.
 *
 * @example
 * import { describe, test } from 'node:test';
 *
 * testStore('MySQL', { open: () => openEmptyStore() }, { describe, test });
 */
export function testStore(
  name: string,
  { open, close, age, expires = false }: StoreSuite,
  { describe, test }: TestRunner,
): void {
  const define: StoreTest = (title, run) => {
    const runOnce = async () => {
      const store = await open();
      try {
        await run(toTested(store, expires));
      } finally {
        await close?.(store);
      }
    };
    test(title, runOnce, TEST_MS);
  };
  describe(`the ${name} store`, () => {
    defineLeases(define);
    defineAttempts(define);
    defineKeeping(define);
    definePages(define);
    for (const [title, run] of AGED) {
      if (age) define(title, (tested) => run(tested, age));
      else test.skip(`${title} (the suite has no \`age\`)`, () => {});
    }
    defineListing(define);
    defineLimits(define);
  });
}

type Age = (key: string) => unknown;

/** The tests of a failed delivery that is never retried. */
const AGED: readonly (readonly [
  title: string,
  run: (tested: Tested, age: Age) => Promise<void>,
])[] = [
  ['lists a failed delivery as stalled if it is never retried', isFoundStalled],
  ['keeps a failed delivery for the operator after its sender has given up', isKept],
];

async function isFoundStalled({ store, delivery, acquire }: Tested, age: Age): Promise<void> {
  const { fence } = await acquire();
  await store.fail(delivery.key, fence, RETRY);
  await age(delivery.key);
  assert.deepEqual(await store.list({ state: 'failing' }), []);
  const [stalled] = await store.list({ state: 'stalled' });
  hasParts(stalled, { key: delivery.key, error: 'it threw', interrupted: false });
  assert.equal(await store.redrive(delivery.key), true);
  hasParts(await acquire(), { attempt: 1 });
}

async function isKept({ store, delivery, claim, acquire }: Tested, age: Age): Promise<void> {
  const { fence } = await acquire({ keepMs: 0 });
  await store.fail(delivery.key, fence, RETRY);
  await age(delivery.key);
  assert.equal(await store.purge(10), store.durable ? 1 : 0);
  assert.equal(await store.purge(10), 0);
  if (store.durable) {
    const dead = await store.list({ state: 'dead' });
    hasParts(dead, [{ key: delivery.key, interrupted: false }]);
    assert.match(dead[0]?.error ?? '', /^abandoned/);
    assert.equal((await claim()).state, 'dead');
  } else {
    hasParts(await store.list({ state: 'stalled' }), [{ key: delivery.key, error: 'it threw' }]);
    assert.equal((await acquire()).attempt, 2);
  }
}

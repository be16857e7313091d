import assert from 'node:assert/strict';
import type { IdempotencyStore } from '../../stores/store.js';
import { hasParts, TEST_MS, type TestRunner } from '../suite.js';
import { defineAttempts } from './attempts.js';
import { defineKeeping, defineLimits } from './keeping.js';
import { defineLeases } from './leases.js';
import { defineListing } from './listing.js';
import { definePages } from './pages.js';
import { RETRY, type StoreTest, type Tested, toTested } from './tested.js';

/** How {@link testStore} gets its stores, and what is particular to them. */
export interface StoreSuite {
  /** Opens an empty store of a test's own. */
  open(): IdempotencyStore | Promise<IdempotencyStore>;
  /** Ends what `open` has opened, after each test. */
  close?(store: IdempotencyStore): unknown;
  /**
   * Has two minutes pass for a delivery: its lease or its retry becomes due as much earlier. Without it, one
   * test is skipped: that of a delivery which nobody tries again.
   */
  age?(key: string): unknown;
  /** What is done goes by itself once its time has come: `purge` does not count it. Default: false. */
  readonly expires?: boolean;
}

/**
 * Defines the tests that every store of this package passes, for one of your own: verb by verb, the contract
 * of {@link IdempotencyStore}. Run them against the real thing.
 *
 * @param name - Of the store, for the names of the tests.
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
    const title = 'finds a failed delivery stalled that nobody tries again';
    if (age) define(title, (tested) => isFoundStalled(tested, age));
    else test.skip(`${title} (the suite was given no \`age\`)`, () => {});
    defineListing(define);
    defineLimits(define);
  });
}

async function isFoundStalled(
  { store, delivery, acquire }: Tested,
  age: (key: string) => unknown,
): Promise<void> {
  const { fence } = await acquire();
  await store.fail(delivery.key, fence, RETRY);
  await age(delivery.key);
  assert.deepEqual(await store.list({ state: 'failing' }), []);
  const [stalled] = await store.list({ state: 'stalled' });
  hasParts(stalled, { key: delivery.key, error: 'it threw', interrupted: false });
  assert.equal(await store.redrive(delivery.key), true);
  hasParts(await acquire(), { attempt: 1 });
}

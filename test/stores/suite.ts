import * as fc from 'fast-check';
import type { IdempotencyStore } from 'storefront-webhooks';
import { type StoreSuite, testStore } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { describeGoods } from '../goods/on-store.js';
import { describeSkipOlder } from '../receiver/skip-older-on-store.js';
import { runs } from '../support/tier.js';
import { answersOf, histories } from './histories.js';
import { LONG_AGO_MS, ModelStore } from './model.js';

export { newDelivery } from '../../src/testing/store/tested.js';

/** The `age` of a store that uses this process's clock. Restore it after the test. */
export function ageClock(): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() - LONG_AGO_MS);
}

/** Tests a real store with the published suite, with goods, and against a model. */
export function describeStore(
  name: string,
  make: () => IdempotencyStore | Promise<IdempotencyStore>,
  options: Omit<StoreSuite, 'open'> = {},
) {
  testStore(name, { open: make, ...options }, { describe, test });
  describeGoods(name, make);
  describeSkipOlder(name, make);

  describe(`the ${name} store`, () => {
    test('has the optional verb', async () => {
      expect((await make()).isDone).toBeTypeOf('function');
    });

    test('behaves like the model of its state machine, for any sequence of calls', async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const tested = await make();
          const model = new ModelStore(tested.durable);
          expect(await answersOf(tested, history)).toEqual(await answersOf(model, history));
        }),
        { numRuns: runs(60) },
      );
    });
  });
}

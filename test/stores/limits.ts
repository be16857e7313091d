import type { Claimable, FailTerms, IdempotencyStore } from 'storefront-webhooks';
import { expect, test } from 'vitest';

/** What plain JavaScript may ask for, and how many it gets of three. */
const LIMITS: readonly (readonly [limit: number, given: number])[] = [
  [Number.NaN, 0],
  [-1, 0],
  [0, 0],
  [0.5, 0],
  ['9' as unknown as number, 0],
  [Number.NEGATIVE_INFINITY, 0],
  [2.9, 2],
  [Number.MAX_VALUE, 3],
  [Number.POSITIVE_INFINITY, 3],
];

interface Subject {
  readonly store: () => IdempotencyStore;
  readonly newDelivery: () => Claimable;
  /** Claims a delivery, and gives the fence. */
  readonly claim: (delivery: Claimable) => Promise<number>;
  /** Has it claimed and given up, so long ago that it may be purged. */
  readonly outlive: (delivery: Claimable) => Promise<unknown>;
}

const DEAD: FailTerms = { permanent: true, error: 'it threw' };

/** One rule for a limit, in all stores and in both verbs that take one. */
export function testLimits({ store, newDelivery, claim, outlive }: Subject): void {
  test.each(LIMITS)('lists, for a limit of %d, %d of three that are dead', async (limit, given) => {
    for (const one of [newDelivery(), newDelivery(), newDelivery()]) {
      await store().fail(one.key, await claim(one), DEAD);
    }
    const listed = await store().list({ state: 'dead', limit });
    expect(listed).toHaveLength(given);
  });

  test('lists a hundred where nobody says how many', async () => {
    for (const one of [newDelivery(), newDelivery()]) {
      await store().fail(one.key, await claim(one), DEAD);
    }
    expect(await store().list({ state: 'dead' })).toHaveLength(2);
  });

  test.each(['failed', undefined])(
    'lists and counts no state that there is not: %j',
    async (state) => {
      const unknown = state as 'failing';
      for (const asked of [store().list({ state: unknown }), store().count({ state: unknown })]) {
        await expect(asked).rejects.toThrow("'dead', 'stalled' and 'failing'");
      }
    },
  );

  test.each(LIMITS)('purges, for a limit of %d, %d of three that are old', async (limit, given) => {
    for (const one of [newDelivery(), newDelivery(), newDelivery()]) await outlive(one);
    expect(await store().purge(limit)).toBe(given);
    expect(await store().purge(9)).toBe(3 - given);
  });
}

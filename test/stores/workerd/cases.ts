import type { Claimable, LeaseTerms } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { newDelivery } from '../suite.js';
import type { ServedStore } from './served.js';

export const PERMANENT = { permanent: true, error: 'no' };

export function terms(changes: Partial<LeaseTerms> = {}): LeaseTerms {
  return {
    owner: crypto.randomUUID(),
    leaseMs: 60_000,
    keepMs: 60_000,
    maxCrashes: 9,
    ...changes,
  };
}

export async function acquire(
  store: ServedStore,
  delivery: Claimable,
  changes: Partial<LeaseTerms> = {},
): Promise<{ fence: number; attempt: number }> {
  const claim = await store.claim(delivery, terms(changes));
  if (claim.state !== 'acquired') throw new Error(`it is ${claim.state}`);
  return claim;
}

export async function bury(store: ServedStore, delivery: Claimable): Promise<void> {
  const { fence } = await acquire(store, delivery);
  expect(await store.fail(delivery.key, fence, PERMANENT)).toBe('dead');
}

/** Tests both stores with large bodies and with a wrong clock. */
export function testBodiesAndClocks(open: () => Promise<ServedStore>) {
  test('a body of 1 MiB arrives unchanged', async () => {
    const store = await open();
    const body = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => (index * 7) % 251);
    await bury(store, { ...newDelivery(), body });
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    expect(Buffer.from(dead?.body ?? []).equals(body)).toBe(true);
  });

  // workerd accepts slightly more than the 2 MB of the platform.
  test('a body that is too large for a row is rejected, and nothing of it is kept', async () => {
    const store = await open();
    const delivery = newDelivery();
    await expect(store.claimLarge(delivery, terms(), 16_000_000)).rejects.toThrow(/too big/);
    expect(await store.count({ state: 'dead' })).toBe(0);
    expect(await acquire(store, delivery)).toMatchObject({ attempt: 1 });
  });

  test.each([-24, 24])('a clock of the Worker that is off by %d h has no effect', async (hours) => {
    const store = await open();
    const [first, second] = [newDelivery(), newDelivery()];
    await acquire(store, first);
    const { fence } = await acquire(store, second, { leaseMs: 1 });
    await store.shiftClock(hours * 3_600_000);
    try {
      const busy = await store.claim(first, terms());
      expect(busy).toMatchObject({ state: 'busy' });
      const wait = busy.state === 'busy' ? busy.retryAfterMs : 0;
      expect(wait).toBeGreaterThan(30_000);
      expect(wait).toBeLessThanOrEqual(60_000);
      const next = await acquire(store, second);
      expect(next.fence).toBeGreaterThan(fence);
      expect(next.fence - fence).toBeLessThan(60_000);
    } finally {
      await store.shiftClock(0);
    }
  });
}

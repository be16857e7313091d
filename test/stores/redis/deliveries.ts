import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Claim, Claimable, IdempotencyStore, LeaseTerms } from 'storefront-webhooks';
import { LONG_AGO_MS, newDelivery, RETRY } from '../../../src/testing/store/tested.js';

export { LONG_AGO_MS, newDelivery, RETRY };

/** Makes a delivery whose retry is long overdue. */
export async function ageDelivery(admin: Redis, delivery: string, key: string): Promise<void> {
  await admin.hincrby(delivery, 'n', LONG_AGO_MS);
  await admin.zincrby(delivery.replace(key, 'open'), LONG_AGO_MS, key);
}

export function terms(changes: Partial<LeaseTerms> = {}): LeaseTerms {
  return { owner: randomUUID(), leaseMs: 60_000, keepMs: 600_000, maxCrashes: 3, ...changes };
}

/** Claims a delivery that has to be free. */
export async function acquire(
  store: IdempotencyStore,
  delivery: Claimable,
  changes: Partial<LeaseTerms> = {},
): Promise<Extract<Claim, { state: 'acquired' }>> {
  const claim = await store.claim(delivery, terms(changes));
  if (claim.state === 'acquired') return claim;
  throw new Error(`expected to acquire the lease, but it is ${claim.state}`);
}

import { randomUUID } from 'node:crypto';
import type { Claim, Claimable, IdempotencyStore, LeaseTerms } from 'storefront-webhooks';

/** Long enough for a server to start on a busy machine. */
export const STARTING_MS = 60_000;

export const KEEP_MS = 60_000;
/** Moves all times two minutes into the past. */
export const AGE = `UPDATE webhook_delivery SET not_before = not_before - interval '2 minutes'`;

export const EMPTY = 'DELETE FROM webhook_delivery; DELETE FROM webhook_effect';
/** A lease that ended long before any retry would have come. */
export const LONG_AGO_MS = -120_000;

export function newKey(): string {
  return randomUUID().replaceAll('-', '').repeat(2);
}

export function newDelivery(key = newKey()): Claimable {
  return {
    key,
    scope: 'shop',
    id: 'whl_1',
    event: 'order:paid',
    receivedAt: 1_790_000_000_000,
    body: new TextEncoder().encode('{"id":"ord_1"}'),
  };
}

export function terms(some: Partial<LeaseTerms> = {}): LeaseTerms {
  return { owner: randomUUID(), leaseMs: 60_000, keepMs: KEEP_MS, maxCrashes: 3, ...some };
}

export async function acquire(
  store: IdempotencyStore,
  delivery: Claimable,
  some: Partial<LeaseTerms> = {},
): Promise<Extract<Claim, { state: 'acquired' }>> {
  const claim = await store.claim(delivery, terms(some));
  if (claim.state === 'acquired') return claim;
  throw new Error(`expected to acquire the lease, but it is ${claim.state}`);
}

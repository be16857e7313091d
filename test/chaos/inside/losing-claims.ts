import type { IdempotencyStore } from 'storefront-webhooks';
import { durableStore } from '../../support/durable.js';

/**
 * The length of a lease whose answer is lost: longer than the receiver repeats a claim, but short, because the lease
 * has to expire before the sender's next attempt.
 */
const LEASE_MS = 1_000;

/** A store that grants the first claims of each delivery, and loses the answers. */
export function losingClaims(store: IdempotencyStore, count: number): IdempotencyStore {
  /** The owners of granted claims whose answers were lost, by key. */
  const losers = new Map<string, Set<string>>();
  return durableStore(
    () => ({
      async claim(delivery, terms) {
        const { key } = delivery;
        const known = losers.get(key) ?? new Set();
        losers.set(key, known);
        if (!known.has(terms.owner) && known.size >= count) return store.claim(delivery, terms);
        const claim = await store.claim(delivery, { ...terms, leaseMs: LEASE_MS });
        if (claim.state !== 'acquired') return claim;
        known.add(terms.owner);
        throw new Error('The answer to the claim was lost.');
      },
    }),
    store,
  );
}

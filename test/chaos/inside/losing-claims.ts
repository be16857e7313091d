import type { IdempotencyStore } from 'storefront-webhooks';
import { durableStore } from '../../support/durable.js';

/**
 * Longer than a claim is asked again for, and far shorter than a real one: what nobody knows of has to
 * lapse before the next.
 */
const LEASE_MS = 1_000;

/** A store that grants the first claims of each delivery, and whose answers then get lost. */
export function losingClaims(store: IdempotencyStore, count: number): IdempotencyStore {
  /** Who was granted each key, whose every answer is lost. */
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

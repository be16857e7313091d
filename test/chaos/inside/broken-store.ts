import type { IdempotencyStore } from 'storefront-webhooks';
import { durableStore } from '../../support/durable.js';

/** A store with a fault of its own, to see that the harness finds it: `CHAOS_BREAK=complete npm run chaos`. */
export function brokenStore(store: IdempotencyStore, how: string): IdempotencyStore {
  const whole = durableStore(() => ({}), store);
  switch (how) {
    case 'complete':
      return { ...whole, complete: async () => true };
    case 'fence':
      // Says that what was refused had been done.
      return {
        ...whole,
        renew: async () => true,
        complete: async (...args) => (await store.complete(...args)) || true,
      };
    case 'record':
      return { ...whole, completeStep: async () => true };
    case 'lease':
      // Every lease lapses at once.
      return {
        ...whole,
        claim: (delivery, terms) => store.claim(delivery, { ...terms, leaseMs: 1 }),
      };
    case 'done':
      // Forgets at once what is done.
      return {
        ...whole,
        async complete(key, fence) {
          await store.fail(key, fence, { permanent: false, error: '' });
          return true;
        },
      };
    case 'lose':
      // Says that what somebody else has begun was done.
      return {
        ...whole,
        async claim(...args) {
          const claim = await store.claim(...args);
          return claim.state === 'busy' ? { state: 'done' } : claim;
        },
      };
    case 'no-record':
      // Where the store is away, what was done is forgotten and said to be kept.
      return {
        ...whole,
        completeStep: (...args) => store.completeStep(...args).catch(() => true),
        complete: (...args) => store.complete(...args).catch(() => true),
      };
    case 'park':
      return parking(whole);
    case 'ledger':
    case 'enqueue':
    case 'event':
    case 'abrupt':
    case 'stop-first':
    case 'rename':
    case 'tx-listener':
    case 'unbounded':
    case 'timid':
    case 'when':
      return whole;
    default:
      throw new Error(`CHAOS_BREAK is not ${how}, but one of those that run.ts names.`);
  }
}

/** Parks what was claimed by five, whether or not anything was done under it. */
function parking(store: IdempotencyStore): IdempotencyStore {
  const owners = new Map<string, Set<string>>();
  return {
    ...store,
    async claim(delivery, terms) {
      const known = owners.get(delivery.key) ?? new Set();
      owners.set(delivery.key, known.add(terms.owner));
      return known.size > 5 ? { state: 'dead' } : store.claim(delivery, terms);
    },
  };
}

/** An effect that no ledger has entered before, where `CHAOS_BREAK` says so. */
export function perhapsAnother<Effect extends { readonly handler: string }>(
  effect: Effect,
): Effect {
  if (process.env.CHAOS_BREAK !== 'ledger') return effect;
  return { ...effect, handler: `${effect.handler} ${process.hrtime.bigint()}` };
}

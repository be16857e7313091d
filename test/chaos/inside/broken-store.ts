import type { IdempotencyStore } from 'storefront-webhooks';
import { durableStore } from '../../support/durable.js';

/** A store with a deliberate fault, to check that the harness detects it: `CHAOS_BREAK=complete npm run chaos`. */
export function brokenStore(store: IdempotencyStore, how: string): IdempotencyStore {
  const whole = durableStore(() => ({}), store);
  switch (how) {
    case 'complete':
      return { ...whole, complete: async () => true };
    case 'fence':
      // Reports a rejected call as done.
      return {
        ...whole,
        renew: async () => true,
        complete: async (...args) => (await store.complete(...args)) || true,
      };
    case 'record':
      return { ...whole, completeStep: async () => true };
    case 'lease':
      // Every lease expires at once.
      return {
        ...whole,
        claim: (delivery, terms) => store.claim(delivery, { ...terms, leaseMs: 1 }),
      };
    case 'done':
      // Forgets at once that a delivery is done.
      return {
        ...whole,
        async complete(key, fence) {
          await store.fail(key, fence, { permanent: false, error: '' });
          return true;
        },
      };
    case 'lose':
      // Reports the work that another process has begun as done.
      return {
        ...whole,
        async claim(...args) {
          const claim = await store.claim(...args);
          return claim.state === 'busy' ? { state: 'done' } : claim;
        },
      };
    case 'no-record':
      // While the store is away, the result is dropped and reported as recorded.
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
    case 'forged':
    case 'when':
      return whole;
    default:
      throw new Error(`CHAOS_BREAK is not ${how}, but one of those that run.ts names.`);
  }
}

/** Parks a delivery that was claimed five times, whether or not a handler ran. */
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

/** Claims that every effect is new to the ledger, if `CHAOS_BREAK` is `ledger`. */
export function perhapsAnother<Effect extends { readonly handler: string }>(
  effect: Effect,
): Effect {
  if (process.env.CHAOS_BREAK !== 'ledger') return effect;
  return { ...effect, handler: `${effect.handler} ${process.hrtime.bigint()}` };
}

import { WebhookError } from '../errors.js';
import { inTime } from '../in-time.js';
import type { Claim, IdempotencyStore } from './store.js';

/**
 * A store as the receiver uses it: whatever goes wrong in one of its verbs is a rejected promise, and
 * in time. A verb that throws at once, gives a plain value, hangs, or gives rubbish must not bring a
 * process down, hold a delivery up for ever, or have one done twice.
 */
export function guardStore(store: IdempotencyStore): IdempotencyStore {
  const guarded = async <Value>(call: () => Promise<Value>): Promise<Value> =>
    inTime(Promise.resolve(call()), 'The store');
  return {
    durable: store.durable,
    claim: async (...args) => checkClaim(await guarded(() => store.claim(...args))),
    renew: (...args) => guarded(() => store.renew(...args)),
    handlerDone: (...args) => guarded(() => store.handlerDone(...args)),
    complete: (...args) => guarded(() => store.complete(...args)),
    fail: (...args) => guarded(() => store.fail(...args)),
    release: (...args) => guarded(() => store.release(...args)),
    redrive: (...args) => guarded(() => store.redrive(...args)),
    purge: (...args) => guarded(() => store.purge(...args)),
    list: (...args) => guarded(() => store.list(...args)),
  };
}

function checkClaim(claim: Claim): Claim {
  switch (claim?.state) {
    case 'acquired':
      if (Number.isSafeInteger(claim.fence) && typeof claim.done === 'object' && claim.done)
        return claim;
      break;
    case 'busy':
    case 'done':
    case 'dead':
      return claim;
  }
  throw new WebhookError(
    'store_invalid',
    'The store gave no claim that fits the contract of IdempotencyStore.',
  );
}

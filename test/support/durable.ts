import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';

/** A store that says it is durable, with some of its verbs changed. Default: one in memory. */
export function durableStore(
  changes: (store: IdempotencyStore) => Partial<IdempotencyStore> = () => ({}),
  store = memoryStore(),
): IdempotencyStore {
  return {
    durable: true,
    description: store.description,
    whenSilent: store.whenSilent,
    claim: (...args) => store.claim(...args),
    renew: (...args) => store.renew(...args),
    completeStep: (...args) => store.completeStep(...args),
    complete: (...args) => store.complete(...args),
    fail: (...args) => store.fail(...args),
    release: (...args) => store.release(...args),
    redrive: (...args) => store.redrive(...args),
    purge: (...args) => store.purge(...args),
    list: (...args) => store.list(...args),
    count: (...args) => store.count(...args),
    ...changes(store),
  };
}

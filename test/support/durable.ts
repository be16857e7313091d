import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { forward } from '../../src/stores/contract.js';

/** A store that claims to be durable, with some of its verbs replaced. Default: a store in memory. */
export function durableStore(
  changes: (store: IdempotencyStore) => Partial<IdempotencyStore> = () => ({}),
  store = memoryStore(),
): IdempotencyStore {
  return forward(store, { durable: true, ...changes(store) });
}

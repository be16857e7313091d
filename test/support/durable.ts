import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { forward } from '../../src/stores/contract.js';

/** A store that says it is durable, with some of its verbs changed. Default: one in memory. */
export function durableStore(
  changes: (store: IdempotencyStore) => Partial<IdempotencyStore> = () => ({}),
  store = memoryStore(),
): IdempotencyStore {
  return forward(store, { durable: true, ...changes(store) });
}

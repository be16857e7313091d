import type { IdempotencyStore } from './store.js';

export const VERBS = [
  'claim',
  'renew',
  'completeStep',
  'complete',
  'fail',
  'release',
  'redrive',
  'purge',
  'list',
  'count',
] as const satisfies (keyof IdempotencyStore)[];

/** Makes a call of a verb. `key` is that of its delivery, or null where it is of no single one. */
export type Around = <Value>(call: () => Promise<Value>, key: string | null) => Promise<Value>;

/**
 * A store whose verbs are those of another one.
 *
 * @param changes - Verbs in place of those.
 * @param around - Makes each call that is not changed.
 */
export function forward(
  store: IdempotencyStore,
  changes: Partial<IdempotencyStore> = {},
  around: Around = (call) => call(),
): IdempotencyStore {
  const isDone = store.isDone?.bind(store);
  return {
    durable: store.durable,
    description: store.description,
    whenSilent: store.whenSilent,
    claim: (...args) => around(() => store.claim(...args), args[0]?.key),
    renew: (...args) => around(() => store.renew(...args), args[0]),
    completeStep: (...args) => around(() => store.completeStep(...args), args[0]),
    complete: (...args) => around(() => store.complete(...args), args[0]),
    fail: (...args) => around(() => store.fail(...args), args[0]),
    release: (...args) => around(() => store.release(...args), args[0]),
    redrive: (...args) => around(() => store.redrive(...args), args[0]),
    purge: (...args) => around(() => store.purge(...args), null),
    list: (...args) => around(() => store.list(...args), null),
    count: (...args) => around(() => store.count(...args), null),
    ...(isDone && { isDone: (...args) => around(() => isDone(...args), args[0]) }),
    ...changes,
  };
}

import { UsageError } from '../errors/errors.js';
import { refuseUnknownOption } from '../errors/text.js';
import { nameType } from '../runtime/bytes.js';
import {
  ERROR_CHARACTERS,
  type IdempotencyStore,
  type ListFilter,
  type StoredDelivery,
  type UnfinishedState,
} from './store.js';

/** The default limit of a list. */
const LIST_LIMIT = 100;
const FILTER = ['state', 'scope', 'after', 'limit'] satisfies (keyof ListFilter)[];
const KEY = /^[\da-f]{64}$/;

/** A {@link ListFilter}, checked and with its defaults. A missing `after` is an empty text. */
export interface ReadFilter {
  readonly state: UnfinishedState;
  readonly scope: string | undefined;
  readonly after: string;
  readonly limit: number;
}

/** The verbs of a store whose arguments {@link withContract} has checked. */
export interface StoreVerbs<Tx = unknown> extends Omit<IdempotencyStore<Tx>, 'list'> {
  list(filter: ReadFilter): Promise<readonly StoredDelivery[]>;
}

/**
 * Wraps a store so that its verbs only get keys, times, errors, limits and filters that fit the contract. Every
 * store of this package uses it, and your own store can too.
 *
 * The verbs reject with a {@link UsageError}: `key_invalid`, or `option_invalid` for an unknown state and for a
 * `leaseMs`, `keepMs` or `maxCrashes` that is not a valid number.
 *
 * @example
 * const toMysqlStore = (verbs: Omit<StoreVerbs, 'durable' | 'description'>) =>
 *   withContract({ ...verbs, durable: true, description: 'MySQL' });
 */
export function withContract<Tx>(store: StoreVerbs<Tx>): IdempotencyStore<Tx> {
  const changes: Partial<IdempotencyStore<Tx>> = {
    claim: async (delivery, lease) => {
      checkKey(delivery?.key);
      const { leaseMs, keepMs, maxCrashes } = lease ?? {};
      checkNumbers({ leaseMs, keepMs, maxCrashes });
      return store.claim(delivery, lease);
    },
    renew: async (key, fence, leaseMs) => {
      checkNumbers({ leaseMs });
      return store.renew(checkKey(key), fence, leaseMs);
    },
    complete: async (key, fence, keepMs) => {
      checkNumbers({ keepMs });
      return store.complete(checkKey(key), fence, keepMs);
    },
    fail: async (key, fence, { permanent, error }) =>
      store.fail(checkKey(key), fence, { permanent, error: error.slice(0, ERROR_CHARACTERS) }),
    purge: async (limit) => store.purge(toLimit(limit)),
    list: async (filter) => store.list(readFilter(filter)),
    count: async (filter) => {
      const { state, scope } = readFilter(filter);
      return store.count({ state, scope });
    },
  };
  return forward(store, changes, async (call, key) => {
    checkKey(key);
    return call();
  });
}

function readFilter(filter: ListFilter): ReadFilter {
  // Plain JavaScript may leave the filter out, or misspell its options.
  refuseUnknownOption('A store', filter ?? {}, FILTER);
  const { state, scope, after = '', limit = LIST_LIMIT } = filter ?? {};
  if (after !== '') checkKey(after);
  return { state: checkState(state), scope, after, limit: toLimit(limit) };
}

/** @throws {UsageError} `key_invalid` */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new UsageError('key_invalid', 'A key is 64 hexadecimal digits, in lower case.');
}

/** Checks numbers. A `leaseMs` may be below 0, for a lease that has already expired; the others may not. */
function checkNumbers(given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    const isLease = name === 'leaseMs';
    if (typeof value === 'number' && (isLease ? Number.isFinite(value) : value >= 0)) continue;
    const what = isLease ? 'a finite number' : 'a number from 0 to Infinity';
    const found = typeof value === 'number' ? value : nameType(value);
    throw new UsageError('option_invalid', `A store takes ${what} as ${name}, but got ${found}.`);
  }
}

function checkState(state: UnfinishedState | undefined): UnfinishedState {
  const states: readonly unknown[] = ['dead', 'stalled', 'failing'] satisfies UnfinishedState[];
  if (state !== undefined && states.includes(state)) return state;
  const given = typeof state === 'string' ? JSON.stringify(state) : nameType(state);
  throw new UsageError(
    'option_invalid',
    `A store lists and counts the states 'dead', 'stalled' and 'failing', but the filter has ${given}.`,
  );
}

/**
 * Converts a limit to an integer from 0 to the most that any database can count. A value that is not a number
 * becomes 0, so that a mistake returns nothing rather than everything.
 */
export function toLimit(limit: number): number {
  // Plain JavaScript may pass anything, and comparisons with NaN are always false.
  if (typeof limit !== 'number' || Number.isNaN(limit)) return 0;
  return Math.min(Math.max(Math.floor(limit), 0), Number.MAX_SAFE_INTEGER);
}

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

/** Makes a call of a verb. `key` is the key of its delivery; null if the verb is not about a single delivery. */
export type Around = <Value>(call: () => Promise<Value>, key: string | null) => Promise<Value>;

/**
 * Returns a store that forwards its verbs to another store.
 *
 * @param changes - Verbs that replace forwarded ones.
 * @param around - Makes each forwarded call.
 */
export function forward<Tx>(
  store: IdempotencyStore<Tx>,
  changes: Partial<IdempotencyStore<Tx>> = {},
  around: Around = (call) => call(),
): IdempotencyStore<Tx> {
  const isDone = store.isDone?.bind(store);
  return {
    durable: store.durable,
    description: store.description,
    maxBodyBytes: store.maxBodyBytes,
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
    // A handler runs in it, for as long as it may.
    ...(store.transactions && { transactions: store.transactions }),
    ...changes,
  };
}

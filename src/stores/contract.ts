import { UsageError } from '../errors.js';
import { findUnknownOption } from '../report/text.js';
import { nameType } from '../request/bytes.js';
import { forward } from './forward.js';
import {
  ERROR_CHARACTERS,
  type IdempotencyStore,
  type ListFilter,
  type StoredDelivery,
  type UnfinishedState,
} from './store.js';

/** How many are listed where nobody says. */
const LIST_LIMIT = 100;
const FILTER = ['state', 'scope', 'after', 'limit'] satisfies (keyof ListFilter)[];
const KEY = /^[\da-f]{64}$/;

/** A {@link ListFilter} as every store reads it: checked, with its defaults. No `after` is an empty text. */
export interface ReadFilter {
  readonly state: UnfinishedState;
  readonly scope: string | undefined;
  readonly after: string;
  readonly limit: number;
}

/** The verbs of a store, where {@link withContract} has read what they are given. */
export interface StoreVerbs extends Omit<IdempotencyStore, 'list'> {
  list(filter: ReadFilter): Promise<readonly StoredDelivery[]>;
}

/**
 * Applies to a store what the contract says of keys, errors, limits and filters. Every store of this package
 * is made through it, and one of your own can be: then its verbs are given nothing else.
 *
 * Its verbs reject with a {@link UsageError}: `key_invalid`, or `option_invalid` for a state that there is not.
 *
 * @example
 * const toMysqlStore = (verbs: Omit<StoreVerbs, 'durable' | 'description'>) =>
 *   withContract({ ...verbs, durable: true, description: 'MySQL' });
 */
export function withContract(store: StoreVerbs): IdempotencyStore {
  const changes: Partial<IdempotencyStore> = {
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
  // Plain JavaScript may leave it out, or misspell what is in it.
  const unknown = findUnknownOption('A store', filter ?? {}, FILTER);
  if (unknown) throw unknown;
  const { state, scope, after = '', limit = LIST_LIMIT } = filter ?? {};
  if (after !== '') checkKey(after);
  return { state: checkState(state), scope, after, limit: toLimit(limit) };
}

/** @throws {UsageError} `key_invalid` */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new UsageError('key_invalid', 'A key is 64 hexadecimal digits, in lower case.');
}

function checkState(state: UnfinishedState | undefined): UnfinishedState {
  const states: readonly unknown[] = ['dead', 'stalled', 'failing'] satisfies UnfinishedState[];
  if (state !== undefined && states.includes(state)) return state;
  const given = typeof state === 'string' ? JSON.stringify(state) : nameType(state);
  throw new UsageError(
    'option_invalid',
    `A store lists and counts the states 'dead', 'stalled' and 'failing', and was asked for ${given}.`,
  );
}

/**
 * How many a caller gets who asks for so many, in every store: whole ones, at least 0, and no more than
 * any database can count. What is no number is 0, so that a mistake gives nothing instead of all.
 */
export function toLimit(limit: number): number {
  // Plain JavaScript may pass anything, and nothing is smaller or greater than NaN.
  if (typeof limit !== 'number' || Number.isNaN(limit)) return 0;
  return Math.min(Math.max(Math.floor(limit), 0), Number.MAX_SAFE_INTEGER);
}

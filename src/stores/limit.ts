import { UsageError } from '../errors.js';
import { nameType } from '../request/bytes.js';
import type { ListFilter, UnfinishedState } from './store.js';

/** How many are listed where nobody says. */
const LIST_LIMIT = 100;

/** A filter as every store reads it, whatever plain JavaScript has passed. */
export interface ReadFilter {
  readonly state: UnfinishedState;
  readonly scope: string | undefined;
  readonly after: string;
  readonly limit: number;
}

/** @throws {UsageError} `option_invalid` */
export function readFilter({
  state,
  scope,
  after = '',
  limit = LIST_LIMIT,
}: ListFilter): ReadFilter {
  return { state: checkState(state), scope, after, limit: toLimit(limit) };
}

/** @throws {UsageError} `option_invalid` */
export function checkState(state: UnfinishedState): UnfinishedState {
  const states: readonly unknown[] = ['dead', 'stalled', 'failing'] satisfies UnfinishedState[];
  if (states.includes(state)) return state;
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

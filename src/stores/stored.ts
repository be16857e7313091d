import { glanceAt } from './payload.js';
import { INTERRUPTED, type StoredDelivery, type UnfinishedState } from './store.js';

/** What a store has of a delivery that it lists. Times are milliseconds since 1970. */
export interface StoredRow {
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly body: Uint8Array;
  readonly proof: string | null | undefined;
  readonly receivedAt: number;
  readonly attempts: number;
  readonly error: string | null | undefined;
  /** Begins at the time of the last claim. Not there where another version of the store gives the row. */
  readonly fence: number | undefined;
  readonly notBefore: number | undefined;
  /** Its lease was neither completed nor given back, and has lapsed. */
  readonly lapsed: boolean;
}

/**
 * A row as every store lists it, for a person and for `receiver.redrive`: with the order that it is about, which
 * is read out of its body.
 *
 * @example
 * const list: StoreVerbs['list'] = async ({ state, limit }) => {
 *   const { rows } = await pool.query('SELECT * FROM deliveries WHERE state = $1 LIMIT $2', [state, limit]);
 *   return rows.map((row) => toStored(row, state));
 * };
 */
export function toStored(row: StoredRow, state: UnfinishedState): StoredDelivery {
  const { key, scope, id, event, body, proof, receivedAt, attempts, error, fence, notBefore } = row;
  return {
    key,
    scope,
    id,
    event,
    body,
    proof: proof ?? undefined,
    receivedAt: toDate(receivedAt),
    state,
    attempts,
    error: error ?? undefined,
    interrupted: row.lapsed || (state === 'dead' && error === INTERRUPTED),
    ...glanceAt(body),
    lastTriedAt: attempts > 0 && fence !== undefined ? toDate(fence) : undefined,
    dueAt: state !== 'dead' && notBefore !== undefined ? toDate(notBefore) : undefined,
  };
}

/** The last millisecond that a Date can hold: a lease of any length is taken. */
const LAST_MS = 8_640_000_000_000_000;

function toDate(ms: number): Date {
  return new Date(Math.max(-LAST_MS, Math.min(ms, LAST_MS)));
}

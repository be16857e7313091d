import { TextDecoder } from '../runtime/bytes.js';
import { INTERRUPTED, type StoredDelivery, type UnfinishedState } from './store.js';

/** A stored delivery, as a store reads it for a list. Times are milliseconds since 1970. */
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
  /**
   * The fence, which shows the time of the last claim. Missing if an older version of the store returned the row.
   */
  readonly fence: number | undefined;
  readonly notBefore: number | undefined;
  /** Whether the last lease has expired without being completed or released, even if the delivery has died since. */
  readonly lapsed: boolean;
}

/**
 * Converts a row to the form that every store lists, for the operator and for `receiver.redrive`. Reads the
 * order's id and email from the body.
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

/** The last millisecond that a Date can hold, because a lease may have any length. */
const LAST_MS = 8_640_000_000_000_000;

function toDate(ms: number): Date {
  return new Date(Math.max(-LAST_MS, Math.min(ms, LAST_MS)));
}

/** The order that a delivery is about, for the operator. */
export interface Glance {
  readonly orderId: string | undefined;
  readonly email: string | undefined;
}

const MAX_CHARACTERS = 200;
const NOTHING: Glance = { orderId: undefined, email: undefined };

/** Reads the `id` and `email` in a body, or in its `data` if the body also names an event. Never throws. */
export function glanceAt(body: Uint8Array): Glance {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isObject(json)) return NOTHING;
    const record = typeof json.event === 'string' && isObject(json.data) ? json.data : json;
    return { orderId: shortText(record.id), email: shortText(record.email) };
  } catch {
    return NOTHING;
  }
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : undefined;
}

// The one of the schemas would also load zod.
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { describeError } from '../errors/text.js';
import type { Telemetry } from '../report/telemetry.js';
import type { Delivery } from '../request/delivery.js';
import type { StoreTransactions } from '../stores/store.js';
import type { Idempotency } from './idempotency.js';
import type { Lease, Work } from './lease.js';
import type { Route } from './router.js';
import { failedWork } from './settled.js';

/** The delivery whose handlers run, and what they run with. */
export interface Run {
  readonly delivery: Delivery;
  readonly lease: Lease;
  readonly idempotency: Idempotency;
  readonly telemetry: Telemetry | undefined;
  /** The transactions of the store, and how long it remembers the delivery. */
  readonly transactions: StoreTransactions<unknown> | undefined;
  readonly keepMs: number;
  readonly onError: (error: unknown, handler: string) => void;
}

/** A handler with its own copy of the payload, its effect and its state. */
export interface Prepared {
  readonly route: Route;
  readonly payload: unknown;
  /** The key of the effect, or the error of `oncePer`. */
  readonly effect: { readonly key: string } | { readonly error: unknown } | undefined;
  /** The state of the record, for `skipOlder`: the handler must not have finished a newer one. */
  readonly state: RecordState | undefined;
}

/** The state of a record, for a handler that skips older ones. */
export interface RecordState {
  /** The key under which this handler remembers the record. */
  readonly key: string;
  /** When the record reached this state, as a text that sorts by time. */
  readonly updatedAt: string;
}

export function fail(error: unknown, { name }: Route, { onError }: Run): Work {
  onError(error, name);
  return failedWork(describeError(error));
}

export const DONE_BEFORE: Work = { state: 'done', ran: [] };
export const BUSY: Work = { state: 'busy', ran: [] };
export const UNAVAILABLE: Work = { state: 'unavailable', ran: [] };

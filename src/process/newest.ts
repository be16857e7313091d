import type { Delivery } from '../request/delivery.js';
import { newestKey } from '../request/key.js';
import { isJsonObject } from '../schemas/json.js';
import { toSortable } from '../schemas/time.js';
import type { HandlerLease } from './handler-event.js';
import type { Lease } from './lease.js';
import type { Route } from './router.js';

/** The step of a record's own lease whose output is the newest state that a handler has finished. */
export const UPDATED_AT = 'updated_at';

/** The state of a record, for a handler that skips older ones. */
export interface RecordState {
  /** Under which it is remembered, for this handler. */
  readonly key: string;
  /** When the record became so, as text that sorts as times do. */
  readonly updatedAt: string;
}

/** The state that a payload claims for its record; `undefined` where it has no id or no time. */
export function stateOf(
  { storedName }: Route,
  { scope, payload }: Delivery,
): RecordState | undefined {
  if (!isJsonObject(payload) || typeof payload.id !== 'string') return undefined;
  const updatedAt = toSortable(payload.updated_at);
  if (updatedAt === undefined) return undefined;
  return { key: newestKey(scope, storedName, payload.id), updatedAt };
}

/** Whether the handler has finished a newer state than this. Of one moment, there may be several. */
export function isOlder({ updatedAt }: RecordState, { steps }: Lease): boolean {
  const newest = steps[UPDATED_AT];
  return typeof newest === 'string' && updatedAt < newest;
}

/** The lease of a delivery, which ends with that of its record, too. */
export function underBoth(delivery: Lease, record: Lease): HandlerLease {
  let signal: AbortSignal | undefined;
  return {
    key: delivery.key,
    steps: delivery.steps,
    get signal() {
      signal ??= AbortSignal.any([delivery.signal, record.signal]);
      return signal;
    },
    hasEnded: () => delivery.hasEnded() || record.hasEnded(),
    check() {
      delivery.check();
      record.check();
    },
    completeStep: (name, output) => delivery.completeStep(name, output),
  };
}

import { UsageError } from '../errors.js';
import { type Dispatched, Rejection } from '../outcome.js';
import type { Delivery } from '../request/delivery.js';
import type { Held } from './idempotency.js';
import type { HandlersWork } from './run-handlers.js';

/** What became of a delivery, from what became of the work on it. */
export function toDispatched(held: Held<HandlersWork>, kind: Delivery['kind']): Dispatched {
  switch (held.state) {
    case 'worked': {
      const { result, attempt, isDead } = held;
      return { outcome: isDead ? 'parked' : outcomeOf(result, kind), ran: result.ran, attempt };
    }
    case 'timeout':
      return { outcome: 'failed', ran: [], attempt: held.attempt };
    case 'lost':
      return { outcome: 'busy', ran: [], attempt: held.attempt };
    case 'busy':
      return { outcome: 'busy', ran: [], retryAfterMs: held.retryAfterMs };
    case 'done':
      return { outcome: 'duplicate', ran: [] };
    case 'dead':
      return { outcome: 'parked', ran: [] };
    case 'closing':
    case 'unavailable':
      return { outcome: 'unavailable', ran: [] };
  }
}

function outcomeOf({ state, ran }: HandlersWork, kind: Delivery['kind']): Dispatched['outcome'] {
  if (state !== 'done') return state;
  if (kind === 'invalid') return 'parked';
  // Nothing ran, because every effect had been done for another delivery.
  return ran.length > 0 ? 'handled' : 'duplicate';
}

/** A genuine delivery that does not fit its event is refused, where nobody keeps it. */
export function withoutHandler({ kind, id, event, issues }: Delivery): Rejection | undefined {
  if (kind !== 'invalid') return undefined;
  return new Rejection('payload_invalid', { verified: true, id, event, issues });
}

/** @throws {UsageError} `delivery_invalid` where it is not what a store lists. */
export function checkStored(stored: unknown): void {
  if (typeof stored === 'object' && stored !== null && 'key' in stored && 'body' in stored) return;
  throw new UsageError(
    'delivery_invalid',
    "redrive() takes a delivery as store.list({ state: 'dead' }) gives it, and not its id.",
  );
}

/** The handlers of one receiver must not use up what is another one's. */
export function refuseOtherScope(
  own: string | undefined,
  { scope }: { readonly scope: string },
): void {
  if (own === undefined || own === scope) return;
  throw new UsageError(
    'scope_invalid',
    'This delivery is of another scope. Give each receiver a queue of its own, list with { scope }, and ' +
      'redrive by the receiver of that scope.',
  );
}

import type { Dispatched, Result } from '../request/outcome.js';
import type { Lease, Work } from './lease.js';

/** The result of work that has ended. */
export type Settled = Work & {
  /** If the store has not accepted the result yet, a retry would repeat no plain handler. */
  readonly retryUnrecorded?: boolean | undefined;
};

/** Returns the outcome of work, for the response and the hooks. */
export function toDispatched(
  { state, ran, retryUnrecorded }: Settled,
  { attempt, key }: Lease,
): Dispatched {
  switch (state) {
    case 'done':
    case 'committed':
    case 'kept': {
      // Nothing ran if every effect had already been done for another delivery.
      const outcome = ran.length > 0 ? 'handled' : 'duplicate';
      return { outcome, ran, attempt, key, retryUnrecorded };
    }
    default:
      return { outcome: UNDONE[state], ran, attempt, key };
  }
}

/** Returns the result of a delivery that `onInvalid` gets. A copy is parked, too: a `duplicate` counts as delivered. */
export function toKept(result: Dispatched): Dispatched {
  const kept = result.outcome === 'handled' || result.outcome === 'duplicate';
  return kept ? { ...result, outcome: 'parked', kept } : result;
}

/** The outcomes of work that is not done. */
const UNDONE = {
  dead: 'parked',
  timeout: 'failed',
  failed: 'failed',
  lost: 'busy',
  busy: 'busy',
  unavailable: 'unavailable',
} as const;

/**
 * Returns whether the store does not keep a delivery that was to be parked: the store cannot, or the row is done because
 * a redrive has put the delivery into the queue. The queue then has to keep it.
 */
export function isUnkept({ outcome }: Result): boolean {
  return outcome === 'failed' || outcome === 'duplicate';
}

/** Work that no handler can do. An operator has to look at it. */
export function failedWork(error: string): Work {
  return { state: 'failed', error, ran: [] };
}

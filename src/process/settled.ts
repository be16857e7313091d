import type { Dispatched } from '../request/outcome.js';
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
    case 'kept':
      // Nothing ran if every effect had already been done for another delivery.
      return {
        outcome: ran.length > 0 ? 'handled' : 'duplicate',
        ran,
        attempt,
        key,
        retryUnrecorded,
      };
    case 'dead':
      return { outcome: 'parked', ran, attempt, key };
    case 'timeout':
      return { outcome: 'failed', ran, attempt, key };
    case 'lost':
      return { outcome: 'busy', ran, attempt, key };
    default:
      return { outcome: state, ran, attempt, key };
  }
}

import type { Dispatched, Outcome, Result } from '../outcome.js';
import type { SealedDelivery } from '../request/delivery.js';

/** What a queue's worker needs of a receiver. */
export interface Dispatching {
  dispatch(delivery: SealedDelivery, options: { readonly lastAttempt: boolean }): Promise<Result>;
}

/** What became of a job. */
export interface Worked {
  readonly outcome: Outcome;
  /**
   * `done`: the queue may forget it. `failed`: to be tried again, as often as the queue does. `waiting`: it
   * could not be tried, because it is being processed elsewhere or the store is down.
   */
  readonly state: 'done' | 'failed' | 'waiting';
  /** When it may be tried again, at the soonest. */
  readonly retryAfterMs: number;
  /** The key that it was processed under: not always the one that the queue has named. */
  readonly key: string | undefined;
}

/** Processes a delivery that came out of a queue. */
export async function work(
  receiver: Dispatching,
  delivery: SealedDelivery,
  { lastAttempt }: { readonly lastAttempt: boolean },
): Promise<Worked> {
  let result = await receiver.dispatch(delivery, { lastAttempt });
  // It does not fit its event, and will not the next time: at once to where a person looks at it.
  if (result.outcome === 'rejected') {
    result = await receiver.dispatch(delivery, { lastAttempt: true });
  }
  if (result.outcome === 'rejected') {
    return { outcome: 'rejected', state: 'failed', retryAfterMs: 0, key: undefined };
  }
  const { outcome, retryAfterMs = 0, key } = result;
  return { outcome, state: STATES[outcome], retryAfterMs, key };
}

const STATES = {
  handled: 'done',
  // A dead letter is in the store by now, which is where it is listed and redriven.
  parked: 'done',
  duplicate: 'done',
  ignored: 'done',
  queued: 'done',
  failed: 'failed',
  busy: 'waiting',
  unavailable: 'waiting',
} as const satisfies Record<Dispatched['outcome'], Worked['state']>;

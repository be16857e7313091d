import type { Outcome, Rejection, Result } from '../../request/outcome.js';
import type { Transacted } from '../../stores/store.js';

/** How a delivery ended, for its span and its metrics. */
export interface Ending {
  readonly outcome: Outcome;
  readonly attempt?: number | undefined;
  readonly code?: Rejection['code'] | undefined;
  /** The type of the failure, if there is one, and a sentence that is the same for all failures of that type. */
  readonly error?: { readonly type: string; readonly message: string } | undefined;
}

const MESSAGES = {
  failed: 'A handler threw or ran out of time.',
  unavailable:
    'The store, the queue or the confirm function could not be used, or the receiver is closing.',
} as const satisfies Partial<Record<Outcome, string>>;

export function endingOf(result: Result): Ending {
  if (result.outcome === 'rejected') {
    const { outcome, code, message } = result;
    return { outcome, code, error: { type: code, message } };
  }
  const { outcome, attempt } = result;
  if (outcome !== 'failed' && outcome !== 'unavailable') return { outcome, attempt };
  return { outcome, attempt, error: { type: outcome, message: MESSAGES[outcome] } };
}

/** The end of a request that was answered 503 because of overload. */
export const OVERLOADED: Ending = {
  outcome: 'unavailable',
  error: { type: 'overloaded', message: 'The receiver is overloaded.' },
};

/** The end of a request or a delivery that threw an unexpected error. */
export function failedWith(type: string): Ending {
  return {
    outcome: 'failed',
    error: { type, message: 'The receiver could not process the delivery.' },
  };
}

/** How a run of a handler ended: whether it counts as a run, and the type of its failure. */
export interface RunEnd {
  readonly counts: boolean;
  readonly failure?: string | undefined;
}

/** Takes the end of a run from its transaction; `undefined` if it had none. */
export function endOfRun(transacted: Transacted | undefined): RunEnd {
  switch (transacted?.state) {
    case undefined:
    case 'done':
      return { counts: true };
    case 'unavailable':
      return { counts: true, failure: transacted.state };
    case 'known':
    case 'busy':
    case 'lost':
      // The effect was done before, or another process has it or the delivery: nothing that the handler did stays.
      return { counts: false };
  }
}

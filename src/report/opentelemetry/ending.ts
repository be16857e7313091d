import type { Outcome, Rejection, Result } from '../../outcome.js';

/** How a delivery ended, as its span and its metrics tell it. */
export interface Ending {
  readonly outcome: Outcome;
  readonly attempt?: number | undefined;
  readonly code?: Rejection['code'] | undefined;
  /** Where it did not end well: of which type that is, and a sentence that is the same for all of them. */
  readonly error?: { readonly type: string; readonly message: string } | undefined;
}

const MESSAGES = {
  failed: 'A handler threw or ran out of time.',
  unavailable:
    'The store, the queue or what confirms orders could not be used, or the receiver is closing.',
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

/** Where something was thrown that should not have been. */
export function failedWith(type: string): Ending {
  return { outcome: 'failed', error: { type, message: 'The receiver could not process it.' } };
}

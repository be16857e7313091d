import type { Unknowns } from '../unknowns.js';
import type { Result } from './attempt.js';

/** The rules for retries of a webhook. */
interface Policy {
  /** The most retries. */
  readonly limit: number;
  /** Returns the pause before the next attempt, by the number of retries so far. */
  readonly pauseMs: (retries: number) => number;
  /** Returns whether a retry could get another answer. */
  readonly isPassing: (code: number) => boolean;
}

const SECOND = 1_000;
const doubling = (retries: number) => 10 * SECOND * 2 ** retries;

/** The policies, by the choices of `retries` in unknowns.ts. If you change one, change its description there. */
const POLICIES: Readonly<Record<Unknowns['retries'], Policy>> = {
  doubling: { limit: 8, pauseMs: doubling, isPassing: () => true },
  steady: { limit: 5, pauseMs: () => 300 * SECOND, isPassing: () => true },
  'server-errors': {
    limit: 8,
    pauseMs: doubling,
    // A 2xx without goods has failed, and is retried, too.
    isPassing: (code) => code < 300 || code === 429 || code >= 500,
  },
};

/** Returns the most retries of a webhook. */
export function retryLimit({ retries }: Unknowns): number {
  return POLICIES[retries].limit;
}

/**
 * Returns the pause between a failure and the next retry; `undefined` if the webhook is given up.
 *
 * @param done - The retries so far, and their limit.
 */
export function pauseAfter(
  result: Result,
  done: { readonly retries: number; readonly retry_limit: number },
  { retries }: Unknowns,
): number | undefined {
  const { isPassing, pauseMs } = POLICIES[retries];
  if (done.retries >= done.retry_limit || result.kind === 'refused') return undefined;
  if (result.kind === 'answered' && !isPassing(result.code)) return undefined;
  return pauseMs(done.retries);
}

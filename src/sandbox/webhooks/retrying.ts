import type { Unknowns } from '../unknowns.js';
import type { Result } from './attempt.js';

/** When a webhook is sent again. */
interface Policy {
  /** How often at most. */
  readonly limit: number;
  /** How long after an attempt the next one is, by how often it was retried so far. */
  readonly pauseMs: (retries: number) => number;
  /** Whether what was answered can become another answer. */
  readonly isPassing: (code: number) => boolean;
}

const SECOND = 1_000;
const doubling = (retries: number) => 10 * SECOND * 2 ** retries;

/** By the place that the specification does not show. What is changed here is changed in its words there. */
const POLICIES: Readonly<Record<Unknowns['retries'], Policy>> = {
  doubling: { limit: 8, pauseMs: doubling, isPassing: () => true },
  steady: { limit: 5, pauseMs: () => 300 * SECOND, isPassing: () => true },
  'server-errors': {
    limit: 8,
    pauseMs: doubling,
    // Also a 2xx that has failed, because it had no goods.
    isPassing: (code) => code < 300 || code === 429 || code >= 500,
  },
};

/** How often a webhook is sent again at most. */
export function retryLimit({ retries }: Unknowns): number {
  return POLICIES[retries].limit;
}

/**
 * How long after a failure the webhook is sent again; `undefined` where it is given up.
 *
 * @param done - How often it was sent again so far.
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

/** How long until the next attempt, in seconds: of the first one, and at most. */
const DELAYS = {
  /** Its handler failed: with 10 retries it is given some 3 hours. */
  failed: [15, 12 * 60 * 60],
  /** It could not be tried: it is being processed, or the store is down. */
  waiting: [5, 10 * 60],
  /** There is nothing behind a dead-letter queue: 100 retries last for 3 days. */
  dead: [60, 60 * 60],
} as const satisfies Record<string, readonly [first: number, most: number]>;

export type DelayKind = keyof typeof DELAYS;

/**
 * Doubles with each attempt. By chance a part of that, so that what has failed together does not come
 * back together.
 *
 * @param attempts - 1 after the first.
 */
export function delaySeconds(kind: DelayKind, attempts: number, retryAfterMs = 0): number {
  const [first, most] = DELAYS[kind];
  const delay = Math.min(most, first * 2 ** (attempts - 1));
  return Math.ceil(Math.max(delay * (0.5 + Math.random() / 2), retryAfterMs / 1000));
}

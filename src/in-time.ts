import { WebhookError } from './errors.js';

/** The largest delay that timers take: a larger one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The longest that anything but a handler may take: a store, a queue, a secret function, a schema. */
export const CALL_MS = 10_000;

/**
 * Waits for a promise, but not for ever.
 *
 * @param what - Names what is late, as the subject of a sentence.
 * @throws {WebhookError} `timed_out`
 */
export function inTime<Value>(
  promise: PromiseLike<Value>,
  what: string,
  ms = CALL_MS,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new WebhookError('timed_out', `${what} did not answer within ${ms} ms.`));
    }, ms);
    const settled =
      <Result>(settle: (result: Result) => void) =>
      (result: Result) => {
        clearTimeout(timer);
        settle(result);
      };
    promise.then(settled(resolve), settled(reject));
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Calls back at the end of this turn of the event loop, where the runtime knows of it. */
export const atEndOfTurn: (callback: () => void) => unknown =
  typeof setImmediate === 'function' ? setImmediate : setTimeout;

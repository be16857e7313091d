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
export function withTimeout<Value>(
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

/** For how long what could not be recorded is tried again, and how long the pauses are at most. */
const KEEP_TRYING_MS = 5 * 60_000;
const MAX_PAUSE_MS = 1_000;

/**
 * Tries a write again where the store fails for a moment: what was done should not be forgotten. Each
 * verb may be asked again: where the first answer was lost, the second says the same.
 */
export function withRetry<Result>(write: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const after = (pauseMs: number) => async (error: unknown) => {
    // A store that is slow to fail would take its time again, and the sender is waiting.
    if (performance.now() - startedAt > 1_000) throw error;
    await pause(pauseMs);
    return write();
  };
  return write().catch((error) => after(50)(error).catch(after(250)));
}

/**
 * Goes on trying a write that has failed, when nobody waits for it any more, until the store takes it.
 *
 * @param isOver - Whether to give up, where the program ends.
 * @param onFailed - Told of each failure.
 * @returns What the write gave; `undefined` where it was given up.
 */
export async function keepTrying<Result>(
  write: () => Promise<Result>,
  { isOver, onFailed }: { isOver: () => boolean; onFailed: (error: unknown) => void },
): Promise<Result | undefined> {
  const giveUpAt = performance.now() + KEEP_TRYING_MS;
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await pause(pauseMs);
    if (isOver() || performance.now() > giveUpAt) return undefined;
    try {
      return await write();
    } catch (error) {
      onFailed(error);
    }
  }
}

import { WebhookError } from '../errors/errors.js';

/** The time limit for everything except handlers: a store, a queue, a secret function, a schema. */
export const CALL_MS = 10_000;

/**
 * Waits for a promise, but at most `ms` milliseconds.
 *
 * @param what - Names what is awaited, as the subject of the error message; empty if no one reads that.
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

/**
 * Starts a time limit for work that usually ends within this turn of the event loop: the timer is made at the end of the
 * turn, if the work has not ended by then. Returns a function that stops it.
 */
export function afterTurn(callback: () => void, ms: number): () => void {
  const dueAt = performance.now() + ms;
  // 0: stopped.
  let timer: ReturnType<typeof setTimeout> | 0 | undefined;
  const start = () => {
    timer ??= setTimeout(callback, Math.max(0, dueAt - performance.now()));
  };
  // The global one, so that a test that moves the clock moves both timers. Not every runtime has it, and it throws on the
  // edge runtime of Next.js. It is never cleared: Node's `clearImmediate`, given an immediate of fake timers that have
  // been removed since, miscounts, and no `setImmediate` of the process would call back again.
  if ('EdgeRuntime' in globalThis || !globalThis.setImmediate) start();
  else setImmediate(start);
  return () => {
    clearTimeout(timer);
    timer = 0;
  };
}

/** How long a failed write is retried. */
const KEEP_TRYING_MS = 300_000;
/** The longest pause between two retries. */
const MAX_PAUSE_MS = 1_000;

/**
 * Retries a write twice if the store fails, so that completed work is not forgotten because of a short outage.
 * Every verb of a store can be repeated: if the first answer was lost, the second is the same.
 */
export async function withRetry<Result>(write: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  for (const pauseMs of [50, 250]) {
    try {
      return await write();
    } catch (error) {
      // Do not retry if the store was slow to fail: it would be slow again, and the sender is waiting.
      if (performance.now() - startedAt > 1_000) throw error;
      await pause(pauseMs);
    }
  }
  return write();
}

/**
 * Retries a failed write until the store accepts it, for at most five minutes. For writes that no request awaits.
 *
 * @param isOver - Whether to give up, because the program ends.
 * @param onFailed - Called with the error of each failed attempt.
 * @returns The result of the write; `undefined` if it was given up.
 */
export async function keepTrying<Result>(
  write: () => Promise<Result>,
  { isOver, onFailed }: { isOver: () => boolean; onFailed?: (error: unknown) => void },
): Promise<Result | undefined> {
  const giveUpAt = performance.now() + KEEP_TRYING_MS;
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await pause(pauseMs);
    if (isOver()) return undefined;
    // A process that was frozen for longer than five minutes tries once more when it wakes up.
    const isLast = performance.now() > giveUpAt;
    try {
      return await write();
    } catch (error) {
      onFailed?.(error);
    }
    if (isLast) return undefined;
  }
}

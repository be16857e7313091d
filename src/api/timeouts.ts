/**
 * Runs a function that may never end, and abandons it when the time is over or the caller's signal fires.
 *
 * @throws `late`, or the reason of the signal.
 */
export async function within<Value>(
  ms: number,
  late: unknown,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => controller.abort(late), ms);
  try {
    return await Promise.race([run(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Waits for a number of milliseconds.
 *
 * @throws The reason of the signal, if it fires.
 */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(ms, MAX_MS),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The longest delay that a timer takes. A longer one would fire at once. */
const MAX_MS = 2 ** 31 - 1;

import { pause } from './in-time.js';

/** For how long what could not be recorded is tried again, and how long the pauses are at most. */
const INSIST_MS = 5 * 60_000;
const MAX_PAUSE_MS = 1_000;

/**
 * Tries a write again where the store fails for a moment: what was done should not be forgotten. Each
 * verb may be asked again: where the first answer was lost, the second says the same.
 */
export async function persist<Result>(write: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  for (const pauseMs of [50, 250]) {
    try {
      return await write();
    } catch (error) {
      // A store that is slow to fail would take its time again, and the sender is waiting.
      if (performance.now() - startedAt > 1_000) throw error;
      await pause(pauseMs);
    }
  }
  return write();
}

/**
 * Goes on trying a write that has failed, when nobody waits for it any more, until the store takes it.
 *
 * @param isOver - Whether to give up, where the program ends.
 * @param onFailed - Told of each failure.
 * @returns What the write gave; `undefined` where it was given up.
 */
export async function insist<Result>(
  write: () => Promise<Result>,
  { isOver, onFailed }: { isOver: () => boolean; onFailed: (error: unknown) => void },
): Promise<Result | undefined> {
  const giveUpAt = performance.now() + INSIST_MS;
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

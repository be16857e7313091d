// Taken at import, before a test installs fake timers. A limit or a pause follows the clock of a test, which may move
// it; a turn of the event loop has no length, and would never end on a clock that stands still.
const { setImmediate, setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/**
 * Calls back at the end of this turn of the event loop; on runtimes without `setImmediate`, by a timer. On the edge
 * runtime of Next.js, `setImmediate` throws.
 */
export const atEndOfTurn: (callback: () => void) => unknown =
  'EdgeRuntime' in globalThis ? startTimer : (setImmediate ?? startTimer);

/** Calls back after the timers that are due now. Returns a function that cancels the call. */
export function soon(callback: () => void): () => void {
  const timer = startTimer(callback, 0);
  return () => stopTimer(timer);
}

type Clock = Pick<typeof globalThis, 'setTimeout' | 'setInterval' | 'clearTimeout'>;

declare global {
  /** The timers that the test files of this worker have started. A file of the same worker may load the module again. */
  var startedTimers: { readonly running: Set<NodeJS.Timeout>; readonly real: Clock } | undefined;
}

/** A shorter timer ends by itself. One that stands for the end of a turn has to fire: a module may wait for it. */
const SHORT_MS = 5;

globalThis.startedTimers ??= follow();
const { running, real } = globalThis.startedTimers;

/**
 * Ends what a file left running. Otherwise a receiver of that file would log to the stderr that a test of a later file
 * watches, or move the fake clock of one.
 */
export function endTimers(): void {
  for (const timer of running) real.clearTimeout(timer);
  running.clear();
}

/** Replaces the functions that start a timer by ones that note it. */
function follow() {
  refuseForeignImmediates();
  const { setTimeout, setInterval, clearTimeout } = globalThis;
  const running = new Set<NodeJS.Timeout>();

  const startOnce = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = setTimeout(() => {
      running.delete(timer);
      callback(...args);
    }, ms);
    if ((ms ?? 0) > SHORT_MS) running.add(timer);
    return timer;
  };
  const startMany = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = setInterval(callback, ms, ...args);
    running.add(timer);
    return timer;
  };
  const end = (timer: Parameters<typeof clearTimeout>[0]) => {
    if (typeof timer === 'object') running.delete(timer);
    clearTimeout(timer);
  };
  // Keeps the form for promises, `setTimeout[promisify.custom]`.
  globalThis.setTimeout = Object.assign(startOnce, setTimeout);
  globalThis.setInterval = Object.assign(startMany, setInterval);
  globalThis.clearTimeout = end;
  globalThis.clearInterval = end;
  return { running, real: { setTimeout, setInterval, clearTimeout } };
}

/**
 * Node's `clearImmediate` miscounts if it is given an object of another kind, such as an immediate of fake timers, and
 * later immediates of the worker wait forever. The error shows where that happens.
 */
function refuseForeignImmediates(): void {
  const { setImmediate, clearImmediate } = globalThis;
  const probe = setImmediate(() => {});
  const { constructor: Immediate } = probe;
  clearImmediate(probe);
  globalThis.clearImmediate = (immediate) => {
    if (immediate && immediate.constructor !== Immediate)
      throw new TypeError('clearImmediate was given an immediate of fake timers.');
    clearImmediate(immediate);
  };
}

import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';

// Taken at import, before a test installs fake timers: a test that moves a mocked clock, to let a handler time out,
// must not make the answer late, and a clock that stands still must not hold it up. Fake timers replace the members of
// Node's modules, too, and a browser's globals do not have all of them.
export const {
  clearTimeout,
  queueMicrotask,
  setImmediate = timers.setImmediate,
  setTimeout,
} = globalThis;

/** Milliseconds of real time. */
export const now: () => number = performance.now.bind(performance);

/** Waits for the end of this turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits in real time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits in real time, and does not keep the process running. */
export function idleFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    // In a browser's globals, a timer is a number.
    timer.unref?.();
  });
}

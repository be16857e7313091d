import { inject, type TestContext, TestRunner, vi } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The time limit of a test of this tier, if the test sets no other. */
    testLimitMs: number;
  }
}

declare global {
  /** The functions of vitest, before this module replaces them. A file of the same worker may load the module again. */
  var impatient: Pick<typeof vi, 'waitFor' | 'waitUntil'> | undefined;
}

type Task = TestContext['task'];

const { waitFor, waitUntil } = vi;
globalThis.impatient ??= { waitFor, waitUntil };
const real = globalThis.impatient;
// A test may put a clock of its own in place of these.
const { setTimeout: setRealTimeout, clearTimeout: clearRealTimeout } = globalThis;
const now = performance.now.bind(performance);
const begun = new WeakMap<Task, number>();

/** Notes when an attempt at a test begins. */
export function beginTest(task: Task): void {
  begun.set(task, now());
}

/**
 * Makes `vi.waitFor` and `vi.waitUntil` wait until nine tenths of the running test's time are over, not for one
 * second. A wait that fails then reports its reason before vitest reports that the test has timed out.
 */
export function makePatient(): void {
  vi.waitFor = (callback, options) =>
    named(vi.waitFor, callback, options, (patient) => real.waitFor(callback, patient));
  vi.waitUntil = (callback, options) =>
    named(vi.waitUntil, callback, options, (patient) => real.waitUntil(callback, patient));
}

/** How long a wait that begins now may take. */
export function patienceMs(): number {
  const test = TestRunner.getCurrentTest<Task | undefined>();
  const limitMs = test?.timeout ?? inject('testLimitMs');
  const tookMs = now() - ((test && begun.get(test)) ?? now());
  // A wait in a hook may begin after the test has used up its time.
  return Math.max(0.9 * limitMs - tookMs, 0.1 * limitMs);
}

/** Waits for a promise. If the test's time is nearly over, throws an error that names what has not ended. */
export function ended<Value>(work: Promise<Value>, what: string): Promise<Value> {
  const ms = patienceMs();
  return new Promise((resolve, reject) => {
    const late = new Error(`After ${Math.round(ms / 1000)} s, ${what} has not ended.`);
    const timer = setRealTimeout(() => reject(late), ms);
    work.then(resolve, reject).finally(() => clearRealTimeout(timer));
  });
}

interface Waiting {
  readonly timeout?: number;
  readonly interval?: number;
}

/** Runs a wait, and names its condition if the wait fails without an error of the condition itself. */
async function named<Value>(
  caller: (...args: never[]) => unknown,
  callback: () => unknown,
  options: Waiting | number = {},
  wait: (options: Waiting) => Promise<Value>,
): Promise<Value> {
  const failure = new Error();
  Error.captureStackTrace(failure, caller);
  const given = typeof options === 'number' ? { timeout: options } : options;
  const timeout = Math.min(given.timeout ?? Number.POSITIVE_INFINITY, patienceMs());
  try {
    return await wait({ ...given, timeout });
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('Timed out in wait'))) throw error;
    failure.message = `After ${Math.round(timeout / 1000)} s, this has not come true: ${callback}`;
    throw failure;
  }
}

import { afterAll, beforeEach, vi } from 'vitest';
import { removeNewFolders } from './folders.js';
import { beginTest, makePatient } from './patience.js';

const CLOCK = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'] as const;
const clock = CLOCK.map((name) => globalThis[name]);

const timers = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
const begunWith = timers();
/** A pool or a server may close a little later. */
const MAX_TIMERS = 200;

// Files share a worker, so a replaced clock, function or environment variable ends with its file.
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  removeNewFolders();
  // Otherwise the next file would wait forever without a reason in its output.
  const left = CLOCK.filter((name, index) => globalThis[name] !== clock[index]);
  CLOCK.forEach((name, index) => {
    Reflect.set(globalThis, name, clock[index]);
  });
  // They would fire on the fake clock of a later file, which then moves too slowly.
  const leftTimers = timers() - begunWith;
  if (leftTimers > MAX_TIMERS)
    throw new Error(
      `This file leaves ${leftTimers} timers running in its worker: end its handlers.`,
    );
  if (left.length > 0) throw new Error(`This file leaves its own ${left.join(', ')} to the next.`);
});

makePatient();
beforeEach(({ task }) => beginTest(task));

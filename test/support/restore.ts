import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeEach, vi } from 'vitest';
import { removeNewFolders } from './folders.js';
import { beginTest, makePatient } from './patience.js';

const CLOCK = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'] as const;
const clock = CLOCK.map((name) => globalThis[name]);

const timers = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
const begunWith = timers();
const MAX_TIMERS = 200;
/** How long the work of a file may take to end after it: pools and servers close, and deliveries are recorded. */
const GRACE_MS = 10_000;

// Files share a worker, so a replaced clock, function or environment variable ends with its file.
afterAll(async () => {
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
  if (left.length > 0) throw new Error(`This file leaves its own ${left.join(', ')} to the next.`);
  // They would fire on the fake clock of a later file, which then moves too slowly.
  const leftTimers = () => timers() - begunWith;
  for (const endAt = performance.now() + GRACE_MS; leftTimers() > MAX_TIMERS; await pause(50)) {
    if (performance.now() > endAt)
      throw new Error(
        `This file leaves ${leftTimers()} timers running in its worker: end its handlers.`,
      );
  }
});

makePatient();
beforeEach(({ task }) => beginTest(task));

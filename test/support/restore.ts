import { afterAll, beforeEach, vi } from 'vitest';
import { removeNewFolders } from './folders.js';
import { beginTest, makePatient } from './patience.js';
import { endTimers } from './timers.js';

const CLOCK = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'] as const;
const clock = CLOCK.map((name) => globalThis[name]);

// Files share a worker, so a replaced clock, function or environment variable ends with its file.
afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  removeNewFolders();
  endTimers();
  // Otherwise the next file would wait forever without a reason in its output.
  const left = CLOCK.filter((name, index) => globalThis[name] !== clock[index]);
  CLOCK.forEach((name, index) => {
    Reflect.set(globalThis, name, clock[index]);
  });
  if (left.length > 0) throw new Error(`This file leaves its own ${left.join(', ')} to the next.`);
  const { atEndOfTurn } = await import('../../src/runtime/turn.js');
  const { HAS_PROCESS } = await import('../../src/runtime/has-process.js');
  if (atEndOfTurn !== globalThis.setImmediate || !HAS_PROCESS)
    throw new Error(
      'This file loaded modules while other globals were in place, and the next file would get them. Call vi.resetModules() at the end of this file.',
    );
});

makePatient();
beforeEach(({ task }) => beginTest(task));

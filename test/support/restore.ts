import { afterAll, beforeEach, vi } from 'vitest';
import { removeNewFolders } from './folders.js';
import { beginTest, makePatient } from './patience.js';
import { endTimers } from './timers.js';

const CLOCK = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'] as const;
const clock = CLOCK.map((name) => globalThis[name]);

/** Node's `clearImmediate` miscounts if it is given an object of another kind, and a lone immediate then waits forever. */
function turnEnds(): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = setTimeout(resolve, 5_000, false);
    setImmediate(() => {
      clearTimeout(giveUp);
      resolve(true);
    });
  });
}

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
  // One that waits already may take the first one along.
  const doTurnsEnd = (await turnEnds()) && (await turnEnds());
  // After these turns: a limit makes its timer at the end of a turn.
  endTimers();
  if (!doTurnsEnd)
    throw new Error(
      'setImmediate does not call back any more. Something gave an immediate of fake timers to the real clearImmediate.',
    );
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

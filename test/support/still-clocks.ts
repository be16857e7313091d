import { mock } from 'node:test';
import { vi } from 'vitest';

const WAITING = ['setTimeout', 'setInterval', 'setImmediate'] as const;

/** A clock that stands still, as a user's test installs it: returns the function that removes it. */
export type StillClock = readonly [name: string, install: () => () => void];

/** Every kind of fake timers, none of which is moved. */
export const stillClocks: readonly StillClock[] = [
  [
    "Vitest's fake timers",
    () => {
      vi.useFakeTimers({
        toFake: [
          ...WAITING,
          'clearTimeout',
          'clearImmediate',
          'performance',
          'Date',
          'queueMicrotask',
        ],
      });
      return () => void vi.useRealTimers();
    },
  ],
  [
    "Node's fake timers",
    () => {
      mock.timers.enable({ apis: [...WAITING, 'Date'] });
      return () => mock.timers.reset();
    },
  ],
  [
    'globals that never call back',
    () => {
      const never = () => 0;
      const faked = [...WAITING, 'queueMicrotask'] as const;
      for (const name of faked) vi.stubGlobal(name, never);
      vi.stubGlobal('clearTimeout', never);
      vi.spyOn(performance, 'now').mockReturnValue(1);
      return () => {
        vi.unstubAllGlobals();
        vi.restoreAllMocks();
      };
    },
  ],
];

import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from '../row.js';
import { ONCE } from '../row.js';

/** Time for what is recorded after the answer. */
const RECORDED_MS = 1000;

/** What is left after the process was ended. */
export const restarts: readonly Row[] = [
  {
    name: 'down-after-answer',
    title: 'down right after its 2xx',
    goods: ONCE,
    needsCount: true,
    needsRestart: true,
    when: 'alone',
    change:
      'Answer 2xx when the work is done, or durably stored: await the handler, or give the receiver a queue. What runs on after the answer is lost with the process, and does not come again.',
    async run(trial) {
      await trial.take(trial.paid());
      await trial.setting.restart?.();
      await trial.take(trial.paid());
    },
  },
  {
    name: 'down-and-up',
    title: 'down, up, and sent again',
    goods: ONCE,
    needsCount: true,
    needsRestart: true,
    when: 'alone',
    change:
      'Keep what was done where a restart does not forget it: sqliteStore, postgresStore or redisStore, in place of memoryStore.',
    async run(trial) {
      const paid = trial.paid();
      await trial.take(paid);
      await wait(RECORDED_MS);
      await trial.setting.restart?.();
      await trial.take(paid);
    },
  },
];

import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from '../trial.js';
import { ONCE } from '../trial.js';

/** How long the endpoint may take to record its work after the answer. */
const RECORDED_MS = 1000;

/** The rows that restart the endpoint. */
export const restarts: readonly Row[] = [
  {
    name: 'down-after-answer',
    title: 'down right after its 2xx',
    goods: ONCE,
    needsCount: true,
    needsRestart: true,
    when: 'alone',
    change:
      'Answer 2xx when the work is done, or durably stored: await the handler, or give the receiver a queue. Work that runs on after the answer is lost with the process, and the provider does not retry it.',
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
      'Remember completed work in a store that survives a restart: use sqliteStore, postgresStore or redisStore, not memoryStore.',
    async run(trial) {
      const paid = trial.paid();
      await trial.take(paid);
      await wait(RECORDED_MS);
      await trial.setting.restart?.();
      await trial.take(paid);
    },
  },
];

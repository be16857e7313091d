import { isTaken } from '../../send-options.js';
import { draft } from '../orders.js';
import { AT_MOST_ONCE, NEVER, ONCE, type Row } from '../trial.js';

const OVERSIZE = 5_000_000;
const PATIENCE_MS = 5000;

/** The rows that send too much, or take too long. */
export const limits: readonly Row[] = [
  {
    name: 'oversize',
    title: 'a body of 5 MB',
    goods: AT_MOST_ONCE,
    when: 'alone',
    change:
      'Stop reading at a limit, and answer 413. The limit option of the receiver is 1 MiB by default.',
    async run(trial) {
      const filling = 'x'.repeat(OVERSIZE);
      const body = trial.bodyOf(trial.newOrder(), { user_agent: filling });
      const answer = await trial.send(draft('order:paid', body));
      if (isTaken(answer.status)) {
        trial.complain(
          `The endpoint answered ${answer.status}: it reads a body of this size into memory for any sender.`,
          'A few such requests at once end the process. Payments that arrive then are lost or late.',
        );
      } else if (answer.status >= 500) {
        trial.complain(
          `The endpoint answered ${answer.status}, and not 413: the body makes it fail.`,
          'Anyone who finds the address can make the endpoint fail while customers pay.',
        );
      }
    },
  },
  {
    name: 'endless',
    title: 'a body that never ends',
    goods: NEVER,
    when: 'beside',
    change:
      'Give a body a time limit: bodyTimeout of the receiver (10 s), or server.requestTimeout = 10_000, which is 5 minutes in Node by default.',
    async run(trial) {
      const { orders, endlessMs } = trial.setting;
      const delivery = draft('order:paid', orders.text(orders.newId()));
      const held = trial.send(delivery, { unended: true, timeoutMs: endlessMs });
      await trial.checkAlive('the beginning of a body that never ends');
      const { status, ms, error = '' } = await held;
      if (status === 0 && ms >= endlessMs - 500 && /no answer within/.test(error)) {
        trial.complain(
          `After ${endlessMs / 1000} s, the endpoint still holds the connection open.`,
          'With enough such connections, the server has no room for the delivery of a payment.',
        );
      }
    },
  },
  {
    name: 'answer-time',
    title: 'how long answers take',
    goods: ONCE,
    when: 'alone',
    change:
      'Store the delivery durably, answer, and do the work afterwards: see the queue option of the receiver. Do not answer before the delivery is stored.',
    async run(trial) {
      await trial.take(trial.paid());
      const slowest = Math.max(...trial.setting.took);
      if (slowest > PATIENCE_MS) {
        trial.notes.push(
          `The slowest answer took ${(slowest / 1000).toFixed(1)} s. Most providers give up after 10 s and retry.`,
        );
      }
    },
  },
];

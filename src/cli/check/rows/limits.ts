import { isTaken } from '../../sending.js';
import { draft } from '../orders.js';
import { AT_MOST_ONCE, NEVER, ONCE, type Row } from '../row.js';

const OVERSIZE = 5_000_000;
const PATIENCE_MS = 5000;

/** What is too much, or too long. */
export const limits: readonly Row[] = [
  {
    name: 'oversize',
    title: 'a body of 5 MB',
    goods: AT_MOST_ONCE,
    when: 'alone',
    change:
      'Stop reading at a limit, and answer 413: 1 MiB is the default of the receiver (limit).',
    async run(trial) {
      const filling = 'x'.repeat(OVERSIZE);
      const body = trial.bodyOf(trial.newOrder(), { user_agent: filling });
      const answer = await trial.send(draft('order:paid', body));
      if (isTaken(answer.status)) {
        trial.complain(
          `It was answered ${answer.status}: so much is read into memory, for whoever sends it.`,
          'A few of those at once end the process, and payments that come then are lost or late.',
        );
      } else if (answer.status >= 500) {
        trial.complain(
          `It was answered ${answer.status}, and not 413: the endpoint fails of it.`,
          'Whoever finds the address can make it fail, while customers pay.',
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
          `After ${endlessMs / 1000} s, the connection is still held.`,
          'Enough of those, and the server has no room for the delivery of a payment.',
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
      'Store the delivery durably, answer, and work then: queue of the receiver. Do not answer before it is stored.',
    async run(trial) {
      await trial.take(trial.paid());
      const slowest = Math.max(...trial.setting.took);
      if (slowest > PATIENCE_MS) {
        trial.notes.push(
          `The slowest took ${(slowest / 1000).toFixed(1)} s: most providers give up after 10, and send it again.`,
        );
      }
    },
  },
];

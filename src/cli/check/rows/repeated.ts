import { setTimeout as wait } from 'node:timers/promises';
import { type Draft, draft, newDeliveryId } from '../orders.js';
import type { Trial } from '../trial.js';
import { ONCE, type Row } from '../trial.js';

const ON_PAID = 'Deliver in receiver.onPaid(({ payload: order }) => deliver(order)).';
const ONE_HANDLER = `${ON_PAID} By hand: remember the order's id, and not the event.`;

/** The rows in which an order arrives more than once. */
export const repeated: readonly Row[] = [
  {
    name: 'duplicate',
    title: 'one delivery three times',
    goods: ONCE,
    needsCount: true,
    change: `${ON_PAID} By hand: a unique key on the order's id, written in the transaction that hands the goods out.`,
    async run(trial) {
      const delivery = trial.paid();
      for (let time = 0; time < 3; time++) await trial.take(delivery);
    },
  },
  {
    name: 'concurrent',
    title: 'one delivery eight times at once',
    goods: ONCE,
    needsCount: true,
    change: `${ON_PAID} By hand: claim the order in one statement (INSERT … ON CONFLICT DO NOTHING) before the first await; if you look first and write later, all of them pass.`,
    async run(trial) {
      await takeAtOnce(trial, Array(8).fill(trial.paid()));
    },
  },
  {
    name: 'fresh-id',
    title: 'the same order under a fresh id',
    goods: ONCE,
    needsCount: true,
    change: `The delivery's id is not signed. ${ON_PAID} By hand: remember the order's id, and not the delivery's.`,
    async run(trial) {
      const delivery = trial.paid();
      await trial.take(delivery);
      // The seller decides whether to accept or reject this delivery.
      const answer = await trial.send({ ...delivery, id: newDeliveryId() });
      if (answer.status < 500 && answer.status > 0) return;
      await trial.take({ ...delivery, id: newDeliveryId() }, {}, answer);
    },
  },
  {
    name: 'lost-answer',
    title: 'answer lost, so sent again',
    goods: ONCE,
    needsCount: true,
    change:
      'If the sender hangs up, finish the work that has begun. Deliver in receiver.onPaid(), so that the next attempt does not repeat the work.',
    async run(trial) {
      const delivery = trial.paid();
      await trial.send(delivery, { hangUp: true });
      // No provider retries sooner.
      await wait(500);
      await trial.take(delivery);
    },
  },
  {
    name: 'both-events',
    title: 'updated to 100, then order:paid',
    goods: ONCE,
    needsCount: true,
    change: ONE_HANDLER,
    async run(trial) {
      const order = trial.newOrder();
      await trial.take(draft('order:updated', trial.bodyOf(order)));
      await trial.take(draft('order:paid', trial.bodyOf(order)));
    },
  },
  {
    name: 'both-at-once',
    title: 'updated to 100 and paid at once',
    goods: ONCE,
    needsCount: true,
    change: ONE_HANDLER,
    async run(trial) {
      const order = trial.newOrder();
      const body = trial.bodyOf(order);
      await takeAtOnce(trial, [draft('order:updated', body), draft('order:paid', body)]);
    },
  },
  {
    name: 'id-taken',
    title: 'id used before by another order',
    goods: ONCE,
    needsCount: true,
    change:
      "The delivery's id is not signed, so anyone who has a signed body can use up an id. Remember the order's id, as receiver.onPaid() does, and not the delivery's.",
    async run(trial) {
      const other = trial.paid();
      await trial.take(other);
      const delivery = { ...trial.paid(), id: other.id };
      await trial.take(delivery);
    },
  },
  {
    name: 'relabelled',
    title: 'sent as order:created first',
    goods: ONCE,
    needsCount: true,
    change:
      'The event and the id are not signed. Remember completed work by event and content, or by handler and order, as receiver.onPaid() does, and not by the id.',
    async run(trial) {
      const delivery = trial.paid();
      // The seller decides whether to accept or reject this delivery.
      await trial.send({ ...delivery, event: 'order:created' });
      await trial.take(delivery);
    },
  },
];

/** Sends deliveries at the same moment, and retries each until the endpoint accepts it. */
async function takeAtOnce(trial: Trial, deliveries: readonly Draft[]): Promise<void> {
  const answers = await trial.sendAtOnce(deliveries);
  await Promise.all(deliveries.map((one, at) => trial.take(one, {}, answers[at])));
}

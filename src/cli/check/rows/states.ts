import { isTaken } from '../../send-options.js';
import { draft } from '../orders.js';
import { NEVER, ONCE, type Row } from '../trial.js';

/** The rows that send the states of an order. No provider guarantees their sequence. */
export const states: readonly Row[] = [
  {
    name: 'reordered',
    title: 'awaiting, paid, created last',
    goods: ONCE,
    needsCount: true,
    change:
      'Do not rely on the sequence in which deliveries arrive: hand out goods if the status says paid, once for each order, as receiver.onPaid() does.',
    async run(trial) {
      const order = trial.newOrder();
      await trial.take(draft('order:updated', trial.bodyOf(order, { status: 54 })));
      await trial.take(draft('order:paid', trial.bodyOf(order)));
      await trial.take(draft('order:created', trial.bodyOf(order, { status: 0 })));
    },
  },
  {
    name: 'refunded',
    title: 'paid, refunded, then a late copy',
    goods: ONCE,
    needsCount: true,
    change:
      'Remember forever that an order was delivered, as receiver.onPaid() does: a refund must not make a late copy look new.',
    async run(trial) {
      const order = trial.newOrder();
      const paid = draft('order:paid', trial.bodyOf(order));
      await trial.take(paid);
      await trial.take(draft('order:updated', trial.bodyOf(order, { status: 56 })));
      await trial.take(paid);
    },
  },
  {
    name: 'unpaid',
    title: 'created and updated, never paid',
    goods: NEVER,
    needsCount: true,
    change:
      'Hand out goods only if the status means paid: receiver.onPaid(). By hand: if (order.status !== 100) return.',
    async run(trial) {
      const order = trial.newOrder();
      await trial.take(draft('order:created', trial.bodyOf(order, { status: 0 })));
      for (const status of [51, 52, 53, 54, 55, 56]) {
        await trial.take(draft('order:updated', trial.bodyOf(order, { status })));
      }
    },
  },
  {
    name: 'forged-event',
    title: 'unpaid, but sent as order:paid',
    goods: NEVER,
    when: 'alone',
    needsCount: true,
    change:
      'The event header is not signed: check the status in the body, as receiver.onPaid() does, and not the event.',
    async run(trial) {
      const order = trial.newOrder();
      for (const status of [0, 54, 56]) {
        await trial.send(draft('order:paid', trial.bodyOf(order, { status })));
      }
    },
  },
  {
    name: 'unknown-event',
    title: 'an unknown event',
    goods: NEVER,
    change: 'Answer 2xx to what you have no handler for, as the receiver does by itself.',
    async run(trial) {
      const { orders } = trial.setting;
      const body = orders.text(orders.newId(), { status: 0 });
      const answer = await trial.send(draft('order:archived', body));
      if (isTaken(answer.status)) return;
      trial.complain(
        `The endpoint answered ${answer.status || 'nothing'}: the provider retries the delivery again and again, and counts each attempt as an error.`,
        'The provider disables an endpoint that has a high error rate. Then no payment arrives.',
      );
    },
  },
];

import {
  createReceiver,
  type HandOff,
  type ReceiverOptions,
  type SealedDelivery,
} from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const hooks = { onError() {} };

/** A queue that remembers the keys of its jobs, so that it drops another job of the same key. */
function openQueue() {
  const jobs: SealedDelivery[] = [];
  const keys = new Set<string>();
  const queue: HandOff = {
    durable: true,
    enqueue: async (delivery, { key }) => {
      if (!keys.has(key)) jobs.push(delivery);
      keys.add(key);
      return { id: key };
    },
  };
  return { queue, jobs };
}

/** A delivery whose secret is gone, parked by the worker. */
async function park() {
  const { queue, jobs } = openQueue();
  const store = durableStore();
  const delivered: string[] = [];
  const open = (options: Partial<ReceiverOptions> = {}) =>
    createReceiver({ secret: SECRET, store, hooks, ...options });
  const withHandlers = (options: Partial<ReceiverOptions> = {}) =>
    open(options).on('order:paid', ({ payload }) => {
      delivered.push((payload as { id: string }).id);
    });
  const secret = 'the old one';
  await deliver(createReceiver({ secret, queue }), paidOrder(), { secret });
  const work = async () => {
    for (const job of jobs.splice(0)) await withHandlers().dispatch(job);
  };
  await work();
  const dead = () => store.list({ state: 'dead', limit: 9 });
  const [parked] = await dead();
  if (!parked) throw new Error('Nothing was parked.');
  return { queue, parked, dead, delivered, open, withHandlers, work, jobs };
}

describe('a delivery that could not be verified, redriven with vouched: true', () => {
  test.each(['with', 'without'])(
    'goes through enqueue if the queue has no redrive, from a receiver %s handlers',
    async (how) => {
      const { queue, parked, dead, delivered, open, withHandlers, work } = await park();
      const receiver = how === 'with' ? withHandlers({ queue }) : open({ queue });
      const result = await receiver.redrive(parked, { vouched: true });
      await work();
      expect([result.outcome, delivered, await dead()]).toEqual(['queued', ['ord_1'], []]);
      expect(await receiver.redrive(parked, { vouched: true })).toMatchObject({
        outcome: 'duplicate',
      });
      await work();
      expect(delivered).toEqual(['ord_1']);
    },
  );

  test('goes to the redrive of the queue, which has the worker run it', async () => {
    const { queue, parked, dead, delivered, withHandlers, work, jobs } = await park();
    const redrive = async (delivery: SealedDelivery) => ({ id: `${jobs.push(delivery)}` });
    const result = await withHandlers({ queue: { ...queue, redrive } }).redrive(parked, {
      vouched: true,
    });
    await work();
    expect([result.outcome, delivered, await dead()]).toEqual(['queued', ['ord_1'], []]);
  });
});

import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import {
  createReceiver,
  type IdempotencyStore,
  type ReceiverOptions,
  type SealedDelivery,
} from 'storefront-webhooks';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { type RecoverOptions, reconcile } from 'storefront-webhooks/recovery';
import { redisStore } from 'storefront-webhooks/redis';
import { expect, test } from 'vitest';
import {
  ago,
  answered,
  type Entry,
  entry,
  HOUR,
  NOW,
  paid,
  provider,
  recoverFrom,
  URL,
} from '../../recovery/provider.js';
import { SECRET } from '../../support/deliver.js';
import { durableStore } from '../../support/durable.js';
import { startRedis, withRedis } from '../../support/redis.js';

/** A shop that hands its deliveries to a queue. */
function openQueued(
  options: Pick<Partial<ReceiverOptions>, 'queue' | 'store'> = {},
  store: IdempotencyStore = durableStore(),
) {
  const delivered: string[] = [];
  const jobs: SealedDelivery[] = [];
  const enqueue = async (job: SealedDelivery) => ({ id: `${jobs.push(job)}` });
  const queue = { durable: true, enqueue } as const;
  const quiet = { onRejected() {}, onError() {} };
  const receiver = createReceiver({
    ...{ secret: SECRET, hooks: quiet, queue, store, ...options },
  }).on('order:paid', ({ payload: { id } }) => void delivered.push(id));
  /** Runs the queued jobs, as the queue's worker does. */
  const work = async () => {
    const outcomes: string[] = [];
    for (const job of jobs.splice(0)) outcomes.push((await receiver.dispatch(job)).outcome);
    return outcomes;
  };
  return { receiver, delivered, jobs, work };
}

/** Before the queue was lost, so that the store is known to be the queue's. */
const LONG_AGO = { created_at: ago(2 * HOUR), updated_at: ago(2 * HOUR) };

type Shop = Pick<ReturnType<typeof openQueued>, 'receiver'>;

async function findingsOf(shop: Shop, logs: Entry[]) {
  const { findings, delivered } = await reconcile({
    receiver: shop.receiver,
    client: provider({ logs, orders: [paid(1)] }),
    ...{ url: URL, now: NOW, perSecond: Number.POSITIVE_INFINITY },
  });
  return [delivered, findings.map(({ kind, because }) => [kind, because])];
}

const recovered = async (shop: Shop, logs: Entry[], options: Partial<RecoverOptions> = {}) => {
  const { deliveries, log, complete } = await recoverFrom({ logs }, shop, options);
  return {
    deliveries: deliveries.map(({ reason, outcome }) => [reason, outcome]),
    counts: [log.queued, log.done],
    complete,
  };
};

withRedis('on Redis', () => {
  test('orders whose jobs were lost with their queue are found and recovered', async () => {
    const [ofQueue, ofStore] = await Promise.all([startRedis(), startRedis()]);
    const connection = { host: '127.0.0.1', port: ofQueue.port };
    const bull = new Queue(`webhooks-${randomUUID()}`, { connection });
    const client = new Redis(ofStore.url);
    try {
      const store = redisStore(client);
      const before = openQueued({}, store);
      const done = await answered(before, entry(9, LONG_AGO));
      await before.work();
      const shop = openQueued({ queue: bullmqQueue(bull) }, store);
      const logs = [await answered(shop, entry(1)), done];
      await bull.obliterate({ force: true });
      expect(await findingsOf(shop, logs)).toEqual([0, [['not_delivered', 'queued']]]);
      expect(await recovered(shop, logs, { queued: true })).toMatchObject({
        deliveries: [['queued', 'handled']],
      });
      expect(shop.delivered).toEqual(['ord_1']);
      expect(await findingsOf(shop, logs)).toEqual([1, []]);
    } finally {
      await bull.close();
      client.disconnect();
      await Promise.all([ofQueue.remove(), ofStore.remove()]);
    }
  });
});

import {
  type Confirm,
  createReceiver,
  type IdempotencyStore,
  type ReceiverOptions,
  type SealedDelivery,
} from 'storefront-webhooks';
import { type RecoverOptions, reconcile } from 'storefront-webhooks/recovery';
import { expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  type Entry,
  entry,
  HOUR,
  live,
  MINUTE,
  NOW,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

/** An entry that the queue's worker has done, so that the store is known to be the queue's. */
async function workedBefore(shop: ReturnType<typeof openQueued>): Promise<Entry> {
  const long = { created_at: ago(2 * HOUR), updated_at: ago(2 * HOUR) };
  const one = await answered(shop, entry(9, long));
  await shop.work();
  shop.delivered.splice(0);
  return one;
}

/** A shop whose deliveries go into a queue. */
function openQueued(
  options: Pick<Partial<ReceiverOptions>, 'queue' | 'store' | 'confirm'> = {},
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

test('reconcile reports an order until its job is done', async () => {
  const shop = openQueued();
  const logs = [await answered(shop, entry(1))];
  expect(logs[0]?.response).toContain('v1.queued.');
  expect(await findingsOf(shop, logs)).toEqual([0, [['not_delivered', 'queued']]]);
  expect(await shop.work()).toEqual(['handled']);
  expect(await findingsOf(shop, logs)).toEqual([1, []]);
});

test('reconcile asks the store even if the receiver has no handlers, as in a web process', async () => {
  const store = durableStore();
  const worker = openQueued({}, store);
  const { jobs } = worker;
  const enqueue = async (job: SealedDelivery) => ({ id: `${jobs.push(job)}` });
  const web = {
    receiver: createReceiver({ secret: SECRET, store, queue: { durable: true, enqueue } }),
  };
  const logs = [await answered(web, entry(1))];
  expect(await findingsOf(web, logs)).toEqual([0, [['not_delivered', 'queued']]]);
  await worker.work();
  expect(await findingsOf(web, logs)).toEqual([1, []]);
});

test('a young job is left to its worker', async () => {
  const shop = openQueued();
  const logs = [await answered(shop, entry(1, { updated_at: ago(4 * MINUTE) }))];
  expect(await findingsOf(shop, logs)).toEqual([1, []]);
  expect(await recovered(shop, logs, { queued: true })).toEqual({
    ...{ deliveries: [], counts: [0, 1], complete: true },
  });
  const old = [{ ...logs[0], id: 'whl_1', updated_at: ago(6 * MINUTE) }];
  expect(await recovered(shop, old)).toMatchObject({ counts: [1, 0] });
});

test('a queued job counts as done if the store has no isDone', async () => {
  const { isDone: _, ...store } = durableStore();
  const shop = openQueued({ store });
  const logs = [await answered(shop, entry(1))];
  expect(await findingsOf(shop, logs)).toEqual([1, []]);
  expect(await recovered(shop, logs)).toMatchObject({ counts: [0, 1] });
});

test('recover counts queued deliveries that are not done, and leaves them to the queue', async () => {
  const shop = openQueued();
  const logs = [await answered(shop, entry(1))];
  expect(await recovered(shop, logs)).toEqual({ deliveries: [], counts: [1, 0], complete: true });
  expect(shop.delivered).toEqual([]);
  expect(await shop.work()).toEqual(['handled']);
  expect(await recovered(shop, logs)).toEqual({ deliveries: [], counts: [0, 1], complete: true });
});

test('recover with queued: true runs a delivery once, and its job is then a duplicate', async () => {
  const shop = openQueued();
  const before = await workedBefore(shop);
  const logs = [await answered(shop, entry(1)), await answered(shop, entry(2)), before];
  expect(await recovered(shop, logs, { queued: true, apply: false })).toMatchObject({
    deliveries: [
      ['queued', 'listed'],
      ['queued', 'listed'],
    ],
  });
  expect(shop.delivered).toEqual([]);
  const first = logs.filter(({ id }) => id !== 'whl_2');
  expect(await recovered(shop, first, { queued: true })).toEqual({
    ...{ deliveries: [['queued', 'handled']], counts: [1, 1], complete: true },
  });
  expect(await shop.work()).toEqual(['duplicate', 'handled']);
  expect(await recovered(shop, logs, { queued: true })).toMatchObject({ deliveries: [] });
  expect(shop.delivered).toEqual(['ord_1', 'ord_2']);
});

test('recover with queued: true skips a delivery that the worker has done in the meantime', async () => {
  const shop = openQueued();
  const before = await workedBefore(shop);
  const logs = [await answered(shop, entry(1)), before];
  const client = provider({
    logs,
    onRequest: (path) =>
      void (path.includes('whl_1') && shop.jobs.length > 0 && worked.push(shop.work())),
  });
  const worked: Promise<string[]>[] = [];
  expect(await recovered(shop, logs, { queued: true, client })).toMatchObject({
    // The worker may finish before or after the store is asked.
    deliveries: [['queued', expect.stringMatching(/^(settled|duplicate)$/)]],
  });
  expect(await worked[0]).toEqual(['handled']);
  expect(shop.delivered).toEqual(['ord_1']);
});

test('a queued delivery without a handler counts as done', async () => {
  const shop = openQueued();
  const logs = [
    await answered(shop, entry(1, { event: 'feedback:created', payload: { id: 'fb_1' } })),
  ];
  expect(await recovered(shop, logs)).toEqual({ deliveries: [], counts: [0, 1], complete: true });
});

test('a queued delivery counts as not done if a `when` throws for it', async () => {
  const shop = openQueued();
  shop.receiver.on('order:*', () => {}, {
    name: 'mirror',
    when: () => {
      throw new Error('no');
    },
  });
  const logs = [await answered(shop, entry(1))];
  expect(await recovered(shop, logs)).toMatchObject({ counts: [1, 0] });
});

test('an order whose job has failed for good has the reason dead', async () => {
  const shop = openQueued();
  const stamp = async (id: string) => {
    if (id === 'ord_1') throw new Error('no');
  };
  shop.receiver.on('order:paid', ({ payload: { id } }) => stamp(id), { name: 'stamp' });
  const before = await workedBefore(shop);
  const logs = [await answered(shop, entry(1)), before];
  for (const job of shop.jobs) await shop.receiver.dispatch(job, { lastAttempt: true });
  expect(await findingsOf(shop, logs)).toEqual([0, [['not_delivered', 'dead']]]);
  expect(await recovered(shop, logs, { queued: true })).toMatchObject({
    ...{ deliveries: [['queued', 'parked']], complete: false },
  });
});

test('an order that onInvalid has kept for the worker stays parked, however often it is recovered', async () => {
  const confirm: Confirm = async ({ payload: { id } }) =>
    id === 'ord_9'
      ? { state: 'agreed', kept: false }
      : { state: 'disagreed', issues: [{ path: 'value', message: 'differs' }] };
  const shop = openQueued({ confirm });
  shop.receiver.onInvalid(() => {});
  const before = await workedBefore(shop);
  const logs = [await answered(shop, entry(1)), before];
  expect(await shop.work()).toEqual(['parked']);
  for (let run = 0; run < 2; run++) {
    expect(await recovered(shop, logs, { queued: true })).toMatchObject({
      ...{ deliveries: [['queued', 'parked']], complete: false },
    });
  }
  expect(shop.delivered).toEqual([]);
});

test('an order whose payload does not fit is not delivered after onInvalid has kept it for the worker', async () => {
  const shop = openQueued();
  shop.receiver.onInvalid(() => {});
  const before = await workedBefore(shop);
  const logs = [await answered(shop, entry(1, { payload: { ...paid(1), status: 0 } })), before];
  expect(await shop.work()).toEqual(['parked']);
  expect(await findingsOf(shop, logs)).toMatchObject([0, [['not_delivered', 'queued']]]);
  for (let run = 0; run < 2; run++) {
    expect(await recovered(shop, logs, { queued: true })).toMatchObject({
      ...{ deliveries: [['queued', 'parked']], complete: false },
    });
  }
});

test('a store without any completed job counts as new, and recovery leaves earlier deliveries', async () => {
  const shop = openQueued();
  const [queued, done] = [await answered(shop, entry(1)), await answered(shop, entry(2))];
  await shop.work();
  const logs = [queued, done, entry(3)];
  const fresh = openQueued();
  expect(await recovered(fresh, logs, { queued: true })).toEqual({
    deliveries: [
      ['queued', 'earlier'],
      ['queued', 'earlier'],
      ['refused', 'earlier'],
    ],
    ...{ counts: [2, 0], complete: false },
  });
  expect(fresh.delivered).toEqual([]);
  await recovered(fresh, logs, { queued: true, earlier: true });
  expect(fresh.delivered).toEqual(['ord_1', 'ord_2', 'ord_3']);
});

test('a job whose payload was edited in the log is left, because it would run as another delivery', async () => {
  const shop = openQueued();
  const one = await answered(shop, entry(1));
  const logs = [{ ...one, payload: paid(1, { updated_at: ago(MINUTE) }) }, await live(shop)];
  expect(await recovered(shop, logs, { queued: true })).toEqual({
    ...{ deliveries: [['edited', 'unsafe']], counts: [0, 0], complete: false },
  });
});

test('recover rejects a web process without the handlers', async () => {
  const enqueue = async () => ({ id: 'job' });
  const queue = { durable: true, enqueue } as const;
  const receiver = createReceiver({ secret: SECRET, store: durableStore(), queue });
  await expect(recovered({ receiver } as never, [])).rejects.toMatchObject({
    code: 'option_invalid',
    message: expect.stringContaining("the receiver of the queue's worker"),
  });
});

test('queued has to be true or false', async () => {
  const queued = 'yes' as never;
  await expect(recovered(openQueued(), [], { queued })).rejects.toMatchObject({
    code: 'option_invalid',
    message: expect.stringContaining('queued'),
  });
});

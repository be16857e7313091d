import {
  createReceiver,
  type IdempotencyStore,
  type ListFilter,
  type StoredDelivery,
} from 'storefront-webhooks';
import { type ReconcileOptions, reconcile } from 'storefront-webhooks/recovery';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  ENDPOINT,
  entry,
  HOUR,
  live,
  MINUTE,
  NOW,
  openShop,
  type Provided,
  paid,
  provider,
  recoverFrom,
  URL,
} from './provider.js';

/** Returns the id, kind and reason of each finding. */
async function findingsOf(
  provided: Provided,
  { receiver }: Pick<ReconcileOptions, 'receiver'>,
  options: Partial<ReconcileOptions> = {},
) {
  const client = provider(provided);
  const fast = { perSecond: Number.POSITIVE_INFINITY, now: NOW };
  const { findings } = await reconcile({ receiver, client, url: URL, ...fast, ...options });
  return findings.map(({ orderId, kind, because }) => [orderId, kind, because]);
}

describe('reconcile without `delivered`', () => {
  test('counts an order as delivered if its first answer was lost and its retry was a duplicate', async () => {
    const shop = openShop();
    await answered(shop, entry(1));
    const logs = [await answered(shop, entry(1))];
    expect(logs[0]?.response).toContain('v1.duplicate.');
    expect(await findingsOf({ logs, orders: [paid(1)] }, shop)).toEqual([]);
  });

  test('does not count an order as taken back if the handler of its refund failed', async () => {
    const shop = openShop();
    shop.receiver.on('order:updated', () => Promise.reject(new Error('no')));
    const payload = paid(1, { status: 56 });
    const logs = [
      await answered(shop, entry(1)),
      await answered(shop, entry(2, { event: 'order:updated', payload })),
    ];
    expect(await findingsOf({ logs, orders: [payload] }, shop)).toEqual([
      ['ord_1', 'not_taken_back', undefined],
    ]);
  });

  test('does not count an order as taken back by its payment, if the log shows the order as it is by now', async () => {
    const shop = openShop();
    shop.receiver.on('order:updated', () => {});
    const refunded = paid(1, { status: 56, updated_at: ago(6 * MINUTE) });
    const delivered = { ...(await answered(shop, entry(1))), payload: refunded };
    expect(await findingsOf({ logs: [delivered], orders: [refunded] }, shop)).toEqual([
      ['ord_1', 'not_taken_back', undefined],
    ]);
    const update = entry(2, { event: 'order:updated', payload: refunded });
    const logs = [await answered(shop, update), delivered];
    expect(await findingsOf({ logs, orders: [refunded] }, shop)).toEqual([]);
  });
});

describe('reconcile', () => {
  test('counts an old order as delivered if the log has only another event of it', async () => {
    const store = durableStore();
    const receiver = createReceiver({ secret: SECRET, store }).on('order:paid', () => {}, {
      name: 'once',
      oncePer: ({ id }) => id,
    });
    await answered({ receiver }, entry(1));
    const logs = [
      await answered({ receiver }, entry(2, { event: 'order:updated', payload: paid(1) })),
    ];
    expect(await findingsOf({ logs, orders: [paid(1)] }, { receiver })).toEqual([]);
  });

  test('does not count an answer to another payload as the delivery of this one', async () => {
    const shop = openShop();
    const answer = await answered(shop, entry(2, { payload: paid(1) }));
    const logs = [{ ...answer, payload: paid(2) }];
    expect(await findingsOf({ logs, orders: [paid(2)] }, shop)).toEqual([
      ['ord_2', 'not_delivered', 'edited'],
    ]);
  });

  test('takes the reason from the newest entry of an order', async () => {
    const none = { delivered: () => [] };
    const logs = [entry(2, { payload: paid(1), response_code: 200 }), entry(1)];
    expect(await findingsOf({ logs, orders: [paid(1)] }, openShop(), none)).toEqual([
      ['ord_1', 'not_delivered', 'foreign'],
    ]);
  });
});

describe('the reason of an undelivered order', () => {
  const none = { delivered: () => [] };

  test('is `waiting` while its retry is to come', async () => {
    const logs = [entry(1, { retries: 2, next_retry_at: ago(-MINUTE) })];
    expect(await findingsOf({ logs, orders: [paid(1)] }, openShop(), none)).toEqual([
      ['ord_1', 'not_delivered', 'waiting'],
    ]);
  });

  test('is the last answer if the endpoint is disabled, which gets no retry: recover() runs it', async () => {
    const shop = openShop();
    const provided = {
      logs: [entry(1, { retries: 2, next_retry_at: ago(-5 * HOUR) }), await live(shop)],
      orders: [paid(1)],
      endpoints: [{ ...ENDPOINT, enabled: false }],
    };
    const client = provider(provided);
    const fast = { perSecond: Number.POSITIVE_INFINITY, now: NOW };
    const { findings } = await reconcile({ receiver: shop.receiver, client, url: URL, ...fast });
    expect(findings).toMatchObject([{ because: 'refused', remedy: 'recover' }]);
    const { deliveries } = await recoverFrom(provided, shop);
    expect(deliveries).toMatchObject([{ reason: 'refused', outcome: 'handled' }]);
  });

  test.each([
    [
      'a disabled endpoint has a replacement',
      [
        { ...ENDPOINT, id: 'ep_2' },
        { ...ENDPOINT, enabled: false },
      ],
    ],
    ['only a product or a payment names the address', []],
  ])('is that a retry is to come if %s', async (_, endpoints) => {
    const waiting = entry(1, { retries: 2, next_retry_at: ago(-5 * HOUR) });
    const shop = openShop();
    const provided = { logs: [waiting, await live(shop)], orders: [paid(1)], endpoints };
    expect(await findingsOf(provided, shop)).toEqual([['ord_1', 'not_delivered', 'waiting']]);
  });

  test('is read from the store in pages, for each state and scope', async () => {
    const waiting: Record<string, number[]> = {
      failing: [1],
      stalled: Array.from({ length: 100 }, (_, at) => at + 2),
      dead: [...Array.from({ length: 100 }, (_, at) => at + 1002), 1200],
    };
    const asked: ListFilter[] = [];
    const list: IdempotencyStore['list'] = async (filter) => {
      asked.push(filter);
      const all = (waiting[filter.state] ?? []).map((number) => stored(number, filter.state));
      const from = all.findIndex(({ key }) => key === filter.after) + 1;
      return all.slice(from, from + (filter.limit ?? 100));
    };
    const shop = openShop({ scope: 'a', store: durableStore(() => ({ list })) });
    const orders = [1, 2, 1200, 3000].map((number) => paid(number));
    expect(await findingsOf({ logs: [], orders }, shop, none)).toEqual([
      ['ord_1', 'not_delivered', 'failing'],
      ['ord_2', 'not_delivered', 'stalled'],
      ['ord_1200', 'not_delivered', 'dead'],
      ['ord_3000', 'not_delivered', 'unlogged'],
    ]);
    expect(asked).toHaveLength(1 + 2 + 2);
    expect(new Set(asked.map(({ scope }) => scope))).toEqual(new Set(['a']));
  });
});

function stored(number: number, state: StoredDelivery['state']): StoredDelivery {
  return {
    key: `${number}`,
    scope: 'a',
    id: `whl_${number}`,
    event: 'order:paid',
    body: new Uint8Array(),
    proof: undefined,
    receivedAt: NOW,
    state,
    attempts: 1,
    error: undefined,
    interrupted: false,
    orderId: `ord_${number}`,
    email: undefined,
    lastTriedAt: undefined,
    dueAt: undefined,
  };
}

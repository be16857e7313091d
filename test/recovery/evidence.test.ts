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
  entry,
  MINUTE,
  NOW,
  openShop,
  type Provided,
  paid,
  provider,
  URL,
} from './provider.js';

/** What does not agree: each order, with what and where it is. */
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

describe('without the shop, an order counts as delivered', () => {
  test('where the first answer was lost, and the retry was a duplicate', async () => {
    const shop = openShop();
    await answered(shop, entry(1));
    const logs = [await answered(shop, entry(1))];
    expect(logs[0]?.response).toContain('v1.duplicate.');
    expect(await findingsOf({ logs, orders: [paid(1)] }, shop)).toEqual([]);
  });

  test('and not as taken back where the handler of its refund has failed', async () => {
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
});

describe('of an order that was delivered long ago', () => {
  test('the log of another event is not taken for all that there is', async () => {
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

  test('an answer to another payload does not say that this one was handled', async () => {
    const shop = openShop();
    const answer = await answered(shop, entry(2, { payload: paid(1) }));
    const logs = [{ ...answer, payload: paid(2) }];
    expect(await findingsOf({ logs, orders: [paid(2)] }, shop)).toEqual([
      ['ord_2', 'not_delivered', 'edited'],
    ]);
  });

  test('the newest entry says how it stands', async () => {
    const none = { delivered: () => [] };
    const logs = [entry(2, { payload: paid(1), response_code: 200 }), entry(1)];
    expect(await findingsOf({ logs, orders: [paid(1)] }, openShop(), none)).toEqual([
      ['ord_1', 'not_delivered', 'foreign'],
    ]);
  });
});

describe('where an order is that was not delivered', () => {
  const none = { delivered: () => [] };

  test('says that its retry is still to come', async () => {
    const logs = [entry(1, { retries: 2, next_retry_at: ago(-MINUTE) })];
    expect(await findingsOf({ logs, orders: [paid(1)] }, openShop(), none)).toEqual([
      ['ord_1', 'not_delivered', 'waiting'],
    ]);
  });

  test('is read from the store page by page, in each state and in its scope', async () => {
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

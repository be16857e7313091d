import { createReceiver, type Order } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  ENDPOINT,
  type Entry,
  entry,
  live,
  MINUTE,
  type Provided,
  paid,
  recoverFrom,
} from './provider.js';
import { HOUR, openSeller, outcomesOf, sqlite } from './seller.js';

/** A shop that delivers paid orders and, if asked to, takes reversed orders back. */
function open({ takesBack = true } = {}) {
  const ran: string[] = [];
  const receiver = createReceiver({ secret: SECRET, store: durableStore() }).onPaid(
    async ({ payload }) => void ran.push(`deliver ${payload.id}`),
  );
  if (takesBack) {
    const when = ({ status }: Order) => status === 51 || status === 56;
    const options = { name: 'refund', when, oncePer: ({ id }: Order) => id };
    receiver.on(
      'order:updated',
      ({ payload }) => void ran.push(`take back ${payload.id}`),
      options,
    );
  }
  return { receiver, ran };
}

/** An entry for a state that an order had a number of minutes ago. By default, its delivery was missed. */
function stated(minutes: number, status: number, changes: Record<string, unknown> = {}): Entry {
  const at = { created_at: ago(minutes * MINUTE), updated_at: ago(minutes * MINUTE) };
  const event = status === 100 ? 'order:paid' : status === 0 ? 'order:created' : 'order:updated';
  const payload = paid(1, { created_at: ago(55 * MINUTE), updated_at: at.updated_at, status });
  return entry(minutes, { ...at, event, payload, ...changes });
}

const answer = (status: number) => Response.json({ message: 'No.' }, { status });

/** The answers of the provider to a request for the order, by the rights of the token. */
const TOKENS: Record<string, () => Response> = {
  'a token that may not read orders': () => answer(403),
  'a token for which the provider has no such order': () => answer(404),
  'a token that may read orders': () => Response.json(paid(1, { status: 56 })),
  'a provider that still shows the order as paid': () => Response.json(paid(1)),
};

async function recovered(
  shop: ReturnType<typeof open>,
  logs: readonly Entry[],
  order: () => Response = () => answer(403),
  apply = true,
) {
  const onRequest = (path: string) => (path === 'GET /orders/ord_1' ? order() : undefined);
  const provided: Provided = { logs: [...logs, await live(shop)], onRequest };
  shop.ran.length = 0;
  const { deliveries, complete } = await recoverFrom(provided, shop, { apply });
  return { outcomes: deliveries.map(({ event, outcome }) => `${event} ${outcome}`), complete };
}

const missed = stated(50, 100);
const created = stated(50, 0, { id: 'whl_created' });

describe.each(Object.entries(TOKENS))('with %s', (_, order) => {
  test.each([51, 56])('an order whose state %i was handled is not delivered', async (status) => {
    const shop = open();
    const handled = await answered(shop, stated(40, status));
    expect(shop.ran).toEqual(['take back ord_1']);
    for (const apply of [false, true]) {
      const { outcomes, complete } = await recovered(shop, [handled, missed], order, apply);
      expect([outcomes, complete, shop.ran]).toEqual([['order:paid settled'], true, []]);
    }
  });

  test('an order is not delivered if its refund was answered, even without a handler for refunds', async () => {
    const shop = open({ takesBack: false });
    const ignored = await answered(shop, stated(40, 56));
    const { outcomes } = await recovered(shop, [ignored, missed], order);
    expect([outcomes, shop.ran]).toEqual([['order:paid settled'], []]);
  });

  test('an order whose payment and refund were both missed is not delivered, and its refund is handled', async () => {
    const shop = open();
    const { outcomes } = await recovered(shop, [stated(40, 56), missed], order);
    expect(outcomes).toEqual(['order:paid settled', 'order:updated handled']);
    expect(shop.ran).toEqual(['take back ord_1']);
  });

  test('an order is not delivered if only another address got its refund', async () => {
    const shop = open();
    const elsewhere = stated(40, 56, { url: 'https://books.example/hook', response_code: 200 });
    const { outcomes } = await recovered(shop, [elsewhere, missed], order);
    expect([outcomes, shop.ran]).toEqual([['order:paid settled'], []]);
  });

  test('an order is not delivered if it was refunded in the same second as its payment', async () => {
    const shop = open();
    const second = stated(50, 56, { created_at: missed.created_at });
    const { outcomes } = await recovered(shop, [missed, await answered(shop, second)], order);
    expect([outcomes, shop.ran]).toEqual([['order:paid settled'], []]);
  });

  test('an order is not delivered if it was created, paid and refunded in one second', async () => {
    const shop = open();
    const refunded = await answered(shop, stated(50, 56, { id: 'whl_refunded' }));
    const late = { ...created, created_at: ago(49 * MINUTE) };
    const { outcomes } = await recovered(shop, [late, refunded, missed], order);
    expect(outcomes).toContain('order:paid settled');
    expect(shop.ran).toEqual([]);
  });
});

describe('a missed chargeback of an order that has been paid again since', () => {
  const again = { event: 'order:updated', id: 'whl_again' };

  test.each([
    ['is not handled if the provider shows that', paid(1, { updated_at: ago(30 * MINUTE) }), []],
    ['is handled if the provider shows only the first payment', paid(1), ['take back ord_1']],
    [
      'is handled if the provider shows a payment of the same second',
      paid(1, { updated_at: ago(40 * MINUTE) }),
      ['take back ord_1'],
    ],
    ['is handled if the token may not read orders', undefined, ['take back ord_1']],
  ])('%s', async (_, order, ran) => {
    const shop = open();
    const handled = await answered(shop, missed);
    const later = await answered(shop, stated(30, 100, again));
    const logs = [later, stated(40, 51), handled];
    const { outcomes, complete } = await recovered(shop, logs, () =>
      order ? Response.json(order) : answer(403),
    );
    const outcome = ran.length === 0 ? 'settled' : 'handled';
    expect([outcomes, complete, shop.ran]).toEqual([[`order:updated ${outcome}`], true, ran]);
  });

  test('is not handled after its missed payment either, which is', async () => {
    const shop = open();
    const logs = [stated(30, 100, again), stated(40, 51), missed];
    await recovered(shop, logs, () => Response.json(paid(1, { updated_at: ago(30 * MINUTE) })));
    expect(shop.ran).toEqual(['deliver ord_1']);
  });
});

test.each([
  ['was created in the second of its payment', [missed, created]],
  ['was created in the second of its payment, and the log lists that first', [created, missed]],
  [
    'was created in the second of its payment, and the provider sent that later',
    [{ ...created, created_at: ago(49 * MINUTE) }, missed],
  ],
  ['was pending before', [missed, stated(52, 55)]],
  ['was charged back before, and then paid again', [missed, stated(52, 51)]],
  [
    'has a later state that its payload does not state',
    [stated(40, 56), missed].map(withoutStatus),
  ],
])('an order is delivered if it %s', async (_, logs) => {
  const shop = open();
  await recovered(shop, logs);
  expect(shop.ran).toContain('deliver ord_1');
});

test('an order is not delivered if the provider gave its payment up during the last reading but one', async () => {
  const shop = open();
  const refund = await answered(shop, stated(40, 56));
  const other = entry(7);
  const waiting = { ...missed, retries: 1, next_retry_at: ago(-MINUTE) };
  const logs = [refund, waiting, other, await live(shop)];
  const provided: Provided = { logs, onRequest: () => undefined };
  const brought = await answered(shop, other);
  let readings = 0;
  provided.onRequest = (path, _, page) => {
    if (path === 'GET /orders/ord_1') return answer(403);
    if (path === 'GET /webhooks/logs' && page === '1') readings += 1;
    // A retry brings one order, and the other one takes its place among those that were missed.
    if (readings === 2) provided.logs = [refund, missed, brought, ...logs.slice(3)];
    return undefined;
  };
  shop.ran.length = 0;
  const { deliveries } = await recoverFrom(provided, shop);
  expect(deliveries.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
    'order:paid settled',
  ]);
  expect([readings, shop.ran]).toEqual([3, []]);
});

function withoutStatus(one: Entry, index: number): Entry {
  const payload = Object(one.payload);
  return index === 0 ? { ...one, payload: { ...payload, status: undefined } } : one;
}

test('an order is delivered once if its chargeback was lifted later', async () => {
  const shop = open();
  const lifted = stated(30, 100, { event: 'order:updated' });
  const { outcomes } = await recovered(shop, [lifted, stated(40, 51), missed]);
  expect(outcomes).toEqual([
    'order:paid handled',
    'order:updated handled',
    'order:updated duplicate',
  ]);
});

test('an order whose payment the log lacks is not delivered if its refund was handled', async () => {
  const shop = open();
  const refund = await answered(shop, stated(40, 56));
  const client = { logs: [refund, await live(shop)], endpoints: [ENDPOINT] };
  const order = paid(1, { created_at: ago(55 * MINUTE), updated_at: ago(50 * MINUTE) });
  shop.ran.length = 0;
  const { deliveries } = await recoverFrom({ ...client, orders: [order] }, shop, { orders: true });
  expect(deliveries).toMatchObject([{ reason: 'unlogged', outcome: 'settled' }]);
  const changed = { ...order, updated_at: ago(30 * MINUTE) };
  await recoverFrom({ ...client, orders: [changed] }, shop, { orders: true });
  expect(shop.ran).toEqual(['deliver ord_1']);
});

test('a real refund that arrives before its payment keeps the order from being recovered', async () => {
  const seller = await openSeller();
  const delivered: string[] = [];
  const takenBack: string[] = [];
  const receiver = createReceiver({ secret: seller.secret, store: sqlite() })
    .onPaid(async ({ payload }) => void delivered.push(payload.id))
    .on('order:updated', ({ payload }) => void takenBack.push(payload.id), {
      name: 'refund',
      when: ({ status }) => status === 56,
    });
  const shop = { receiver, delivered };
  await seller.endpoint('/webhooks', ['order:paid', 'order:updated']);
  seller.answer(shop);
  const [first = ''] = await seller.sell();
  seller.answer('down');
  const [refunded = '', kept = ''] = await seller.sell(2);
  await seller.pass(72 * HOUR);
  seller.answer(shop);
  await seller.account.refund(refunded);
  await seller.pass(HOUR);
  expect(takenBack).toEqual([refunded]);
  const { client } = seller;
  const orders = { ...client.orders, get: async (id: string) => client.orders.get(`${id}_none`) };
  const recovery = await seller.recover(shop, { client: { ...client, orders } });
  expect(outcomesOf(recovery)).toEqual(expect.arrayContaining(['unanswered settled']));
  expect([recovery.complete, delivered]).toEqual([true, [first, kept]]);
});

import { createReceiver, type Order } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { ago, answered, ENDPOINT, entry, type Provided, paid, recoverFrom } from './provider.js';
import { openSeller, outcomesOf, type SellersShop, sqlite } from './seller.js';

/** A shop that delivers paid orders. */
function openShop(secret: string): SellersShop {
  const delivered: string[] = [];
  const hooks = { onRejected() {}, onError() {} };
  const receiver = createReceiver({ secret, store: sqlite(), hooks }).onPaid(
    async ({ payload: order }) => void delivered.push(order.id),
  );
  return { receiver, delivered };
}

const EVENTS = ['order:created', 'order:paid', 'order:updated'] as const;
const DAY = 24 * 60 * 60_000;
const ONCE = { name: 'count', oncePer: ({ id }: Order) => id };

test('recovery delivers a missed paid order once through onPaid, whichever events report it', async () => {
  const seller = await openSeller();
  const shop = openShop(seller.secret);
  await seller.endpoint('/webhooks', EVENTS);
  seller.answer(shop);
  const [before = ''] = await seller.sell();
  expect(shop.delivered).toEqual([before]);

  seller.answer('down');
  const [missed = ''] = await seller.sell();
  const unpaid = await seller.order();
  await seller.pass(DAY);
  const found = (await seller.reconcile(shop)).findings;
  expect(found.map(({ orderId, kind }) => [orderId, kind])).toEqual([[missed, 'not_delivered']]);

  seller.answer(shop);
  const { deliveries, complete } = await seller.recover(shop);
  expect(complete).toBe(true);
  expect(shop.delivered).toEqual([before, missed]);
  const outcomes = deliveries.map(({ event, recordId, outcome }) => [event, recordId, outcome]);
  expect(outcomes.filter(([, id]) => id === unpaid)).toEqual([
    ['order:created', unpaid, 'ignored'],
  ]);
  // The sandbox reports the payment by order:updated and by order:paid, in one moment.
  const reported = outcomes.filter(([, id]) => id === missed);
  expect(new Set(reported.map(([event]) => event))).toEqual(new Set(EVENTS));
  const ran = reported.map(([, , outcome]) => outcome).filter((one) => one !== 'ignored');
  expect(ran.sort()).toEqual(['duplicate', 'handled']);

  const again = await seller.recover(shop);
  expect(outcomesOf(again).filter((one) => one.endsWith(' handled'))).toEqual([]);
  expect(shop.delivered).toEqual([before, missed]);
  expect((await seller.reconcile(shop)).findings).toEqual([]);
});

test('recovery delivers through onPaid a paid order that the log does not mention, once', async () => {
  const seller = await openSeller();
  const shop = openShop(seller.secret);
  seller.answer(shop);
  const { id: endpoint } = await seller.endpoint('/webhooks', EVENTS);
  await seller.sell();
  await seller.client.webhookEndpoints.delete(endpoint);
  const [unlogged = ''] = await seller.sell();
  await seller.endpoint('/webhooks', EVENTS);
  for (const outcome of ['handled', 'duplicate']) {
    const recovery = await seller.recover(shop, { orders: true });
    const ofOrder = recovery.deliveries.filter(({ recordId }) => recordId === unlogged);
    expect(ofOrder.map((one) => `${one.reason} ${one.outcome}`)).toEqual([`unlogged ${outcome}`]);
    expect(shop.delivered.filter((id) => id === unlogged)).toEqual([unlogged]);
  }
});

test('recovery finds the paid orders that an endpoint without order:paid lost before it was recreated', async () => {
  const shop = openShop(SECRET);
  const at = { created_at: ago(2 * DAY), updated_at: ago(2 * DAY) };
  const told = { ...at, event: 'order:updated', payload: paid(7, at) };
  const changed = paid(7, { created_at: at.created_at });
  const provided: Provided = {
    logs: [await answered(shop, entry(7, told))],
    endpoints: [{ ...ENDPOINT, events: ['order:updated'], created_at: ago(DAY) }],
    orders: [paid(1), changed],
  };
  const { deliveries, complete } = await recoverFrom(provided, shop);
  expect(deliveries).toMatchObject([{ id: 'ord_1', reason: 'unlogged', outcome: 'handled' }]);
  expect([complete, shop.delivered]).toEqual([true, ['ord_7', 'ord_1']]);
});

test.each<[beside: string, add: (shop: SellersShop) => unknown, outcome: string]>([
  ['order:paid', (shop) => shop.receiver.on('order:paid', () => {}, ONCE), 'handled'],
  // The plain handler of this one may have run for the order.
  ['*', (shop) => shop.receiver.on('*', () => {}), 'unsafe'],
])(
  'recovery compares those orders also if there is a handler for %s beside onPaid',
  async (_, add, outcome) => {
    const shop = openShop(SECRET);
    add(shop);
    const at = { created_at: ago(2 * DAY), updated_at: ago(2 * DAY) };
    const told = { ...at, event: 'order:updated', payload: paid(7, at) };
    const provided: Provided = {
      logs: [await answered(shop, entry(7, told))],
      endpoints: [{ ...ENDPOINT, events: ['order:updated'], created_at: ago(DAY) }],
      orders: [paid(1), paid(7, { created_at: at.created_at })],
    };
    const { deliveries, complete } = await recoverFrom(provided, shop);
    expect(deliveries).toMatchObject([{ id: 'ord_1', reason: 'unlogged', outcome }]);
    expect(complete).toBe(outcome === 'handled');
  },
);

test('an order:updated does not show that a paid order was logged if the endpoint gets order:paid', async () => {
  const shop = openShop(SECRET);
  const mirror = createReceiver({ secret: SECRET, store: sqlite() }).on('order:updated', () => {});
  const at = { created_at: ago(2 * DAY), updated_at: ago(2 * DAY) };
  const told = { ...at, event: 'order:updated', payload: paid(7, at) };
  const provided: Provided = {
    logs: [await answered({ receiver: mirror }, entry(7, told))],
    endpoints: [{ ...ENDPOINT, events: ['order:paid', 'order:updated'], enabled: false }],
    orders: [paid(7)],
  };
  const { deliveries } = await recoverFrom(provided, shop, { earlier: true });
  expect(deliveries).toMatchObject([{ id: 'ord_7', reason: 'unlogged', outcome: 'handled' }]);
});

import { createReceiver } from 'storefront-webhooks';
import { expect, test } from 'vitest';
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

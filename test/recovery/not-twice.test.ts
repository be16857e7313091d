import type { RequestListener } from 'node:http';
import { createReceiver, isPaid } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';
import { DAY, HOUR, oldCode, openSeller, openShop, outcomesOf, sqlite } from './seller.js';

/** A receiver that delivers an order whichever event says that it is paid. */
function openBoth(secret: string) {
  const delivered: string[] = [];
  const thanked: string[] = [];
  const hooks = { onRejected() {}, onError() {} };
  const receiver = createReceiver({ secret, store: sqlite(), hooks })
    .on(['order:paid', 'order:updated'], ({ payload: { id } }) => void delivered.push(id), {
      ...{ name: 'deliver', when: isPaid, oncePer: ({ id }: { id: string }) => id },
    })
    .on('order:created', ({ payload: { id } }) => void thanked.push(id), { name: 'thank' });
  return { receiver, delivered, thanked };
}

const refuse: RequestListener = (_, response) => {
  response.statusCode = 404;
  response.end('unknown event');
};

describe('orders that the previous code has delivered', () => {
  test('are not delivered again because it rejected another of their events', async () => {
    const seller = await openSeller();
    const old = oldCode();
    const events = ['order:created', 'order:paid', 'order:updated'] as const;
    await seller.client.webhookEndpoints.create({ url: seller.url, events: [...events] });
    seller.answer((request, response) => {
      const isPaidEvent = request.headers['x-service-event'] === 'order:paid';
      (isPaidEvent ? old.answer : refuse)(request, response);
    });
    await seller.sell(2);
    await seller.pass(72 * HOUR);
    const shop = openBoth(seller.secret);
    await seller.recover(shop);
    expect(shop.delivered).toEqual([]);
    seller.answer(shop);
    const [fresh] = await seller.sell();
    await seller.pass(HOUR);
    const { complete } = await seller.recover(shop);
    expect([complete, shop.delivered]).toEqual([false, [fresh]]);
    // The previous code has done nothing for these.
    expect(shop.thanked).toEqual([fresh, ...old.delivered]);
  });

  test('are not delivered again after a rollback, even if they arrived long after it', async () => {
    const seller = await openSeller();
    const [old, shop] = [oldCode(), openShop(seller.secret)];
    await seller.endpoint();
    seller.answer(old.answer);
    await seller.sell(2);
    await seller.pass(DAY);
    seller.answer(shop);
    await seller.sell();
    await seller.pass(HOUR);
    seller.answer(old.answer);
    await seller.pass(30 * HOUR);
    await seller.sell(2);
    await seller.pass(30 * HOUR);
    seller.answer(shop);
    await seller.sell();
    await seller.pass(HOUR);
    expect(new Set(outcomesOf(await seller.recover(shop)))).toEqual(new Set(['foreign earlier']));
    expect(shop.delivered).toHaveLength(2);
  });

  test('are not delivered again for an address at which the receiver has never answered', async () => {
    const seller = await openSeller();
    const old = oldCode();
    await seller.endpoint();
    await seller.endpoint('/other');
    seller.answer(old.answer);
    await seller.sell(4);
    await seller.pass(72 * HOUR);
    const shop = openShop(seller.secret);
    const url = `${seller.host}/other`;
    const left = await seller.recover(shop, { url });
    expect([left.complete, outcomesOf(left)]).toEqual([false, Array(4).fill('unanswered earlier')]);
    expect(shop.delivered).toEqual([]);
    await seller.recover(shop, { url, earlier: true });
    expect(shop.delivered).toEqual(old.delivered);
  });

  test('are not delivered for an address at which another program has answered some of them', async () => {
    const seller = await openSeller();
    await seller.endpoint();
    let answers = 0;
    seller.answer((_, response) => {
      response.statusCode = answers++ % 2 === 0 ? 204 : 500;
      response.end();
    });
    await seller.sell(4);
    seller.answer('down');
    await seller.pass(72 * HOUR);
    const shop = openShop(seller.secret);
    const { deliveries } = await seller.recover(shop);
    expect(new Set(deliveries.map(({ outcome }) => outcome))).toEqual(new Set(['earlier']));
    expect(shop.delivered).toEqual([]);
  });
});

test('orders of an address that has never answered are recovered if no other address accepted them', async () => {
  const seller = await openSeller();
  await seller.endpoint();
  await seller.endpoint('/other');
  const missed = await seller.sell(2);
  await seller.pass(72 * HOUR);
  const shop = openShop(seller.secret);
  const { complete } = await seller.recover(shop);
  expect([complete, shop.delivered]).toEqual([true, missed]);
});

test('recovery recognises a new store even if `since` is recent', async () => {
  const seller = await openSeller();
  const shop = openShop(seller.secret);
  await seller.endpoint();
  seller.answer(shop);
  await seller.sell();
  await seller.pass(DAY);
  seller.answer('down');
  await seller.sell(2);
  const since = new Date(seller.account.clock.now() - 60_000);
  await seller.pass(72 * HOUR);
  await seller.recover(shop);
  const fresh = openShop(seller.secret);
  seller.answer(fresh);
  const [live] = await seller.sell();
  await seller.pass(HOUR);
  expect(outcomesOf(await seller.recover(fresh, { since }))).toEqual([
    'unanswered earlier',
    'unanswered earlier',
  ]);
  expect(fresh.delivered).toEqual([live]);
});

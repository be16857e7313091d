import { verifySignature } from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, rate, write } from '../../../src/sandbox/trade/customers.js';
import { pay } from '../../../src/sandbox/trade/pay.js';
import { createPayment } from '../../../src/sandbox/trade/payments.js';
import { refund } from '../../../src/sandbox/trade/reverse.js';
import { type Listener, startListener } from './listener.js';
import { openShop, SECRET } from './shop.js';

const ORDER_EVENTS = ['order:created', 'order:updated', 'order:paid'];

let listener: Listener;
let shop: ReturnType<typeof openShop>;
beforeEach(async () => {
  listener = await startListener();
  shop = openShop();
});
afterEach(async () => {
  await shop.close();
  await listener.close();
});

describe('the request', () => {
  test('[spec: Events] has the event, the signature and the id of its log in its headers', async () => {
    shop.subscribe(listener.url);
    shop.order();
    await shop.idle();
    const [log] = shop.logs();
    const [came] = listener.came;
    expect(came?.method).toBe('POST');
    expect(came?.headers).toMatchObject({
      'x-service-event': 'order:created',
      'x-service-signature': expect.stringMatching(/^[0-9a-f]{128}$/),
      'x-service-webhook': log?.id,
      'content-type': 'application/json',
    });
    expect(came?.headerNames).toEqual(
      expect.arrayContaining(['X-Service-Event', 'X-Service-Signature', 'X-Service-Webhook']),
    );
  });

  test('[spec: Authentication] is signed over exactly the sent bytes, which its log keeps', async () => {
    shop.subscribe(listener.url);
    const product = shop.product({ title: 'Café “Ünïcode” \u2028 \\/ 1e400' });
    shop.order(product);
    await shop.idle();
    const [log] = shop.logs();
    const [came] = listener.came;
    const signature = `${came?.headers['x-service-signature']}`;
    expect(verifySignature(came?.body ?? '', signature, SECRET)).toBe(true);
    expect(came?.body.toString()).toBe(JSON.stringify(log?.payload));
    expect(came?.json).toMatchObject({ product_title: product.title });
  });

  test('[spec: Authentication] is signed with the secret that the account has at the time of the attempt', async () => {
    shop.subscribe(listener.url);
    listener.answer(500);
    shop.order();
    await shop.idle();
    shop.account.set({ webhook_secret: 'a new secret' });
    await shop.account.clock.advance(10_000);
    const [first, second] = listener.came;
    expect(second?.body).toEqual(first?.body);
    const holds = (secret: string) =>
      listener.came.map(({ body, headers }) =>
        verifySignature(body, `${headers['x-service-signature']}`, secret),
      );
    expect(holds(SECRET)).toEqual([true, false]);
    expect(holds('a new secret')).toEqual([false, true]);
  });

  test('has headers with another prefix if the sandbox has the option headerPrefix', async () => {
    const other = openShop({ headerPrefix: 'X-Shop-' });
    other.subscribe(listener.url);
    other.order();
    await other.idle();
    expect(listener.came[0]?.headers).toMatchObject({ 'x-shop-event': 'order:created' });
    expect(Object.keys(listener.came[0]?.headers ?? {})).not.toContain('x-service-event');
    await other.close();
  });
});

describe('the sandbox sends webhooks to', () => {
  test('[spec: Webhook endpoint] each enabled endpoint that has subscribed, and to no other', async () => {
    const other = await startListener();
    shop.subscribe(listener.url, ORDER_EVENTS);
    shop.subscribe(other.url, ['order:paid', 'query:created']);
    const disabled = shop.subscribe(`${other.origin}/disabled`, ORDER_EVENTS);
    shop.account.webhookEndpoints.put({ ...disabled, enabled: false });
    shop.sell();
    await shop.idle();
    expect(listener.events()).toEqual([
      'order:created',
      'order:updated',
      'order:updated',
      'order:paid',
    ]);
    expect(other.events()).toEqual(['order:paid']);
    expect(shop.logs()).toHaveLength(5);
    await other.close();
  });

  test('[spec: Events] the payload of an order event is the order at the time of the event', async () => {
    shop.subscribe(listener.url, ORDER_EVENTS);
    const order = shop.order();
    const paid = pay(shop.market, order.id);
    await shop.idle();
    expect(listener.came.map(({ json }) => json.status)).toEqual([0, 55, 100, 100]);
    expect(listener.came[0]?.json).toEqual(order.shown);
    expect(listener.came[3]?.json).toEqual(paid.shown);
  });

  test('[spec: Product] the webhook_url of a product for every order status update', async () => {
    const product = shop.product({ webhook_url: `${listener.origin}/product` });
    const { id } = shop.sell(product);
    refund(shop.market, id);
    shop.sell();
    await shop.idle();
    const statuses = listener.came.map(({ path, event, json }) => [path, event, json.status]);
    expect(statuses).toEqual([
      ['/product', 'order:updated', 55],
      ['/product', 'order:updated', 100],
      ['/product', 'order:updated', 56],
    ]);
    expect(shop.logs().map(({ endpoint_id }) => endpoint_id)).toEqual([null, null, null]);
  });

  test('[spec: Payments] the webhook_url of a payment, and the endpoints whether it is given or not', async () => {
    shop.subscribe(listener.url, ORDER_EVENTS);
    for (const webhook_url of [null, `${listener.origin}/payment`]) {
      const terms = { title: 'Top-up', email: 'a@example.com', currency: 'USD', value: '5' };
      const how = { gateway: 'paypal', confirmations: 1, white_label: false, return_url: null };
      const { id } = createPayment(shop.market, { ...terms, ...how, webhook_url });
      pay(shop.market, id);
    }
    await shop.idle();
    const byPath = (path: string) =>
      listener.came.filter((came) => came.path === path).map(({ event }) => event);
    const paid = ['order:created', 'order:updated', 'order:updated', 'order:paid'];
    expect(byPath('/webhooks')).toEqual([...paid, ...paid]);
    expect(byPath('/payment')).toEqual(['order:updated', 'order:updated']);
  });

  test('[spec: Events] product:out_of_stock is sent once, when the last item is sold', async () => {
    shop.subscribe(listener.url, ['product:out_of_stock']);
    const product = shop.product({ product_type: 'serials', info: 'A,B' });
    shop.sell(product);
    await shop.idle();
    expect(listener.events()).toEqual([]);
    shop.sell(product);
    await shop.idle();
    expect(listener.events()).toEqual(['product:out_of_stock']);
    expect(listener.came[0]?.json).toMatchObject({ id: product.id, stock: 0 });
  });

  test('[spec: Events] queries and feedback have their events', async () => {
    const events = ['query:created', 'query:updated', 'query:replied'];
    shop.subscribe(listener.url, [...events, 'feedback:created', 'feedback:updated']);
    const { id } = ask(shop.market, { email: 'a@example.com', title: 'Hi', message: 'Does it?' });
    write(shop.market, id, { from: 'seller', text: 'It does.' });
    write(shop.market, id, { from: 'customer', text: 'Thanks.' });
    const order = shop.sell();
    rate(shop.market, order.id, { rating: 4, message: 'Good.' });
    rate(shop.market, order.id, { rating: 5, message: 'Very good.' });
    await shop.idle();
    expect(listener.events()).toEqual([
      'query:created',
      'query:replied',
      'query:updated',
      'feedback:created',
      'feedback:updated',
    ]);
  });

  test('no endpoint for a change that was rolled back', async () => {
    shop.subscribe(listener.url);
    expect(() =>
      shop.account.transact(() => {
        shop.order();
        throw new Error('undone');
      }),
    ).toThrow('undone');
    await shop.idle();
    expect([listener.came, shop.logs()]).toEqual([[], []]);
  });
});

test('the webhooks to each URL are sent one at a time, in the order of the changes', async () => {
  const slow = await startListener();
  shop.subscribe(slow.url, ORDER_EVENTS);
  shop.subscribe(listener.url, ORDER_EVENTS);
  let running = 0;
  let most = 0;
  slow.answer(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    running -= 1;
    return 200;
  });
  const ids = Array.from({ length: 10 }, () => shop.order().id);
  for (const id of ids) pay(shop.market, id);
  await shop.idle();
  const sent = shop.logs().filter(({ url }) => url === slow.url);
  expect(slow.came.map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
  expect(most).toBe(1);
  await slow.close();
});

test('resetting an account drops its webhooks and their retries', async () => {
  shop.subscribe(listener.url);
  listener.answer(() => {
    shop.account.reset();
    return 503;
  });
  shop.order();
  shop.order();
  await shop.idle();
  await shop.account.clock.advance(1e9);
  expect(listener.came).toHaveLength(1);
  expect(shop.logs()).toEqual([]);
});

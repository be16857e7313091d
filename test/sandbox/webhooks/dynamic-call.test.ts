import { verifySignature } from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chargeBack, refund } from '../../../src/sandbox/trade/reverse.js';
import { type Answer, type Listener, startListener } from './listener.js';
import { openShop, SECRET } from './shop.js';

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

function dynamic(of = shop) {
  return of.product({ product_type: 'dynamic', dynamic_url: `${listener.origin}/goods` });
}
const goodsOf = (id: string, of = shop) => of.account.orders.get(id)?.shown.delivered;

test('[spec: Events] a dynamic product calls its dynamic_url after the payment, and delivers the response', async () => {
  const goods = ' KEY-1\nKEY-2 – \u{1f511}\n';
  shop.subscribe(`${listener.origin}/webhooks`, ['order:updated']);
  listener.answer(({ path }) => ({ status: 200, body: path === '/goods' ? goods : 'seen' }));
  const order = shop.order(dynamic());
  await shop.idle();
  expect(listener.came).toEqual([]);
  const { id } = shop.sell(dynamic());
  await shop.idle();
  expect(goodsOf(id)).toBe(goods);
  expect(goodsOf(order.id)).toBeNull();
  const called = listener.came.filter(({ path }) => path === '/goods');
  expect(called).toHaveLength(1);
  expect(called[0]?.json).toMatchObject({ id, status: 100, delivered: null });
  const told = listener.came.filter(({ path, json }) => path === '/webhooks' && json.id === id);
  expect(told.map(({ json }) => [json.status, json.delivered])).toEqual([
    [55, null],
    [100, null],
    [100, goods],
  ]);
});

test('the call has the signature and the log of a webhook', async () => {
  listener.answer({ status: 200, body: 'KEY' });
  const { id } = shop.sell(dynamic());
  await shop.idle();
  const [log] = shop.logs();
  const [came] = listener.came;
  expect(log).toMatchObject({
    event: 'product:dynamic',
    url: `${listener.origin}/goods`,
    payload: { id },
    response_code: 200,
    response: 'KEY',
  });
  expect(came?.id).toBe(log?.id);
  const signature = `${came?.headers['x-service-signature']}`;
  expect(verifySignature(came?.body ?? '', signature, SECRET)).toBe(true);
});

test('dynamicCall: post-unsigned sends the call without a signature', async () => {
  const other = openShop({ unknowns: { dynamicCall: 'post-unsigned' } });
  listener.answer({ status: 200, body: 'KEY' });
  other.subscribe(`${listener.origin}/webhooks`);
  const { id } = other.sell(dynamic(other));
  await other.idle();
  expect(goodsOf(id, other)).toBe('KEY');
  for (const { path, headers } of listener.came) {
    expect('x-service-signature' in headers).toBe(path === '/webhooks');
  }
  await other.close();
});

describe('the call is retried after', () => {
  test.each<[string, Answer]>([
    ['an empty answer', 200],
    ['a blank answer', { status: 200, body: ' \n' }],
    ['no content', 204],
    ['a redirect', { status: 302, body: 'KEY', headers: { location: '/' } }],
    ['a refusal', { status: 403, body: 'KEY' }],
    ['an error', { status: 503, body: 'KEY' }],
    ['no answer', 'reset'],
    ['more than 1 MiB', { status: 200, body: Buffer.alloc(1024 * 1024 + 1, 'K') }],
  ])('%s', async (_, answer) => {
    listener.answer((_came, number) => (number < 3 ? answer : { status: 201, body: 'KEY' }));
    const { id } = shop.sell(dynamic());
    await shop.idle();
    await shop.account.clock.advance(29_999);
    expect([listener.came.length, goodsOf(id)]).toEqual([2, null]);
    await shop.account.clock.advance(1);
    expect([listener.came.length, goodsOf(id)]).toEqual([3, 'KEY']);
    expect(shop.logs()).toMatchObject([{ retries: 2, next_retry_at: null }]);
  });

  test('a lost answer and a truncated answer', async () => {
    shop.faults.add({ operation: 'webhooks.send', effect: 'lose-answer' });
    const cut = { status: 200, body: 'KE', headers: { 'content-length': '3' } };
    listener.answer((_, number) => (number === 2 ? cut : { status: 200, body: `KEY-${number}` }));
    const { id } = shop.sell(dynamic());
    await shop.idle();
    expect(goodsOf(id)).toBeNull();
    await shop.account.clock.advance(10_000);
    expect(goodsOf(id)).toBeNull();
    await shop.account.clock.advance(20_000);
    expect(goodsOf(id)).toBe('KEY-3');
  });

  test('any error, up to the retry_limit', async () => {
    listener.answer(500);
    const { id } = shop.sell(dynamic());
    await shop.idle();
    await shop.account.clock.advance(1e9);
    expect([listener.came.length, goodsOf(id)]).toEqual([9, null]);
  });

  test('an empty answer, also if the sandbox retries only server errors', async () => {
    const other = openShop({ unknowns: { retries: 'server-errors' } });
    listener.answer((_, number) => (number === 1 ? 200 : { status: 200, body: 'KEY' }));
    const { id } = other.sell(dynamic(other));
    await other.idle();
    await other.account.clock.advance(10_000);
    expect(goodsOf(id, other)).toBe('KEY');
    await other.close();
  });
});

test.each([
  ['up to 1 MiB', 'K'.repeat(1024 * 1024)],
  ['JSON as well', '{"keys":["A","B"]}'],
])('the goods are the body as it is: %s', async (_, body) => {
  listener.answer({ status: 200, body });
  const { id } = shop.sell(dynamic());
  await shop.idle();
  expect(goodsOf(id)).toBe(body);
});

test.each([
  ['refunded', refund],
  ['charged back', chargeBack],
])('an order that was %s meanwhile is neither called for again nor delivered', async (_, end) => {
  listener.answer(500);
  const { id } = shop.sell(dynamic());
  await shop.idle();
  end(shop.market, id);
  await shop.account.clock.advance(1e9);
  expect(listener.came).toHaveLength(1);
  expect(shop.logs()).toMatchObject([{ response_code: 500, next_retry_at: null }]);

  const late = shop.order(dynamic());
  listener.answer(() => {
    end(shop.market, late.id);
    return { status: 200, body: 'KEY' };
  });
  shop.pay(late.id);
  await shop.idle();
  expect(goodsOf(late.id)).toBeNull();
  expect(shop.logs().at(-1)).toMatchObject({ response_code: 200, next_retry_at: null });
});

test('a dynamic_url on a private network is not called', async () => {
  const product = { product_type: 'dynamic', dynamic_url: 'https://169.254.169.254/' } as const;
  const { id } = shop.sell(shop.product(product));
  await shop.idle();
  await shop.account.clock.advance(1e9);
  expect(goodsOf(id)).toBeNull();
  expect(shop.logs()).toMatchObject([
    { response: 'Not sent: 169.254.169.254 is on a private network.', retries: 0 },
  ]);
});

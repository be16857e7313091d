import { eventSchemas, memoryStore } from 'storefront-webhooks';
import { createGoods, type GoodsOptions } from 'storefront-webhooks/goods';
import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { ended } from '../support/patience.js';
import { call, ORDER, SECRET, UNSIGNED, watched } from './calls.js';

describe('a signed call', () => {
  test.each([
    ['has no signature', UNSIGNED, 401, 'signature_invalid'],
    ['has the signature of another secret', { secret: 'another secret' }, 401, 'signature_invalid'],
    ['is not a POST', { method: 'GET' }, 405, 'method_not_allowed'],
    [
      'declares a length over the limit',
      { headers: { 'content-length': '2000000' } },
      413,
      'body_too_large',
    ],
    ['is encoded', { headers: { 'content-encoding': 'gzip' } }, 415, 'encoding_unsupported'],
  ])('is rejected if it %s, and nothing is made or stored', async (_, sent, status, code) => {
    const { goods, orders, asked, onRejected } = watched();
    const answer = await call(goods, ORDER, sent);
    expect(answer).toMatchObject({ status, outcome: 'rejected' });
    expect(onRejected).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code }));
    expect({ orders, asked }).toEqual({ orders: [], asked: [] });
  });

  test('needs no event and no id, but may have them', async () => {
    const { goods } = watched();
    const headers = { 'x-service-event': 'a,b', 'x-service-webhook': 'whl_1' };
    expect(await call(goods, ORDER, { headers })).toMatchObject({ status: 200 });
  });

  test.each([
    [undefined, 400],
    ['order:paid', 400],
    ['product:dynamic', 200],
  ])('has to have the expected event, if one is set: %s', async (event, status) => {
    const { goods } = watched({ verify: { event: 'product:dynamic' } });
    const headers = event === undefined ? {} : { 'x-service-event': event };
    expect((await call(goods, ORDER, { headers })).status).toBe(status);
  });

  test('may belong to one of several shops, which have their own goods', async () => {
    const secret: GoodsOptions['secret'] = ({ url }) =>
      url === '/nobody' ? null : { secret: SECRET, scope: url ?? '' };
    let made = 0;
    const goods = createGoods(
      { secret, store: memoryStore(), hooks: { onRejected() {} } },
      (_, { scope }) => `${++made} of ${scope}`,
    );
    expect(await call(goods, ORDER, { url: '/one' })).toMatchObject({ body: '1 of /one' });
    expect(await call(goods, ORDER, { url: '/two' })).toMatchObject({ body: '2 of /two' });
    expect(await call(goods, ORDER, { url: '/one' })).toMatchObject({ body: '1 of /one' });
    expect(await call(goods, ORDER, { url: '/nobody' })).toMatchObject({ status: 401 });
  });
});

describe('the order of a call', () => {
  test('needs an id, which is text or a number, and a paid status', async () => {
    const { goods, orders } = watched();
    const status = 100;
    expect(await call(goods, { id: 'ord_1', status })).toMatchObject({ body: 'KEY of ord_1' });
    expect(await call(goods, { id: 42, price: 1, status })).toMatchObject({ body: 'KEY of 42' });
    expect(await call(goods, { id: '42', status })).toMatchObject({ outcome: 'duplicate' });
    expect(orders).toEqual([
      { id: 'ord_1', status },
      { id: '42', price: 1, status },
    ]);
  });

  test('needs no status if a token is required or allow returns the order', async () => {
    const byToken = watched({ verify: { signed: false, allow: () => true } });
    expect(await call(byToken.goods, { id: 'ord_1' })).toMatchObject({ body: 'KEY of ord_1' });
    const found = watched({ verify: { allow: ({ id }) => ({ id }) } });
    expect(await call(found.goods, { id: 'ord_1' })).toMatchObject({ body: 'KEY of ord_1' });
  });

  test('has the id of the order that allow returns, also in hooks', async () => {
    const onOutcome = vi.fn();
    const verify = { allow: () => ({ id: 'ord_own' }) };
    const { goods } = watched({ verify, hooks: { onOutcome } });
    expect(await call(goods, { id: 'ord_1' })).toMatchObject({ body: 'KEY of ord_own' });
    expect(onOutcome.mock.calls[0]?.[0].id).toBe('ord_own');
  });

  test.each(Object.keys(eventSchemas).filter((event) => !event.startsWith('order:')))(
    'is not a webhook for another endpoint: %s',
    async (event) => {
      const { body } = loadFixture(event);
      for (const verify of [{}, { order: (whole: object) => whole }]) {
        const { goods, orders, asked, onRejected } = watched({ verify });
        const { status } = await call(goods, new TextDecoder().decode(body));
        expect({ status, orders, asked }).toEqual({ status: 422, orders: [], asked: [] });
        expect(onRejected.mock.calls[0]?.[0]).toMatchObject({ code: 'payload_invalid' });
      }
    },
  );

  test('is parsed leniently: an invalid field is left out, and reported', async () => {
    const issues: unknown[] = [];
    const goods = createGoods({ secret: SECRET, store: memoryStore() }, (order, about) => {
      issues.push(...about.issues);
      return `${order.email} ${order.value} ${order.quantity}`;
    });
    const odd = { ...ORDER, email: 7, value: 19.9, quantity: 'two' };
    expect(await call(goods, odd)).toMatchObject({ body: 'undefined 19.9 undefined' });
    expect(issues).toEqual([
      { path: 'email', message: 'expected string' },
      { path: 'quantity', message: 'expected number' },
    ]);
  });

  test.each([
    ['no id', {}],
    ['an empty id', { id: '' }],
    ['an id that is neither', { id: true }],
    ['an id with digits lost', { id: 2 ** 60 }],
    ['a list', [ORDER]],
    ['null', null],
  ])('with %s is rejected with advice', async (_, order) => {
    const { goods, asked, onRejected } = watched();
    const answer = await call(goods, order);
    expect(JSON.parse(answer.body)).toMatchObject({ errors: ['id is not as expected'] });
    expect(answer.status).toBe(422);
    expect(onRejected.mock.calls[0]?.[0]).toMatchObject({
      code: 'payload_invalid',
      verified: true,
      detail: expect.stringContaining('`verify.order`'),
    });
    expect(asked).toEqual([]);
  });

  test('that is not JSON is rejected', async () => {
    const { goods } = watched();
    expect(await call(goods, 'id=ord_1')).toMatchObject({ status: 400, outcome: 'rejected' });
  });

  test('may be nested in the body', async () => {
    const { goods } = watched({ verify: { order: ({ data }) => data } });
    expect(await call(goods, { event: 'x', data: ORDER })).toMatchObject({ status: 200 });
    expect(await call(goods, ORDER)).toMatchObject({ status: 422 });
    const elsewhere = watched({
      verify: { order: async ({ order_id: id, status }) => ({ id, status }) },
    });
    expect(await call(elsewhere.goods, { order_id: 9, status: 100 })).toMatchObject({
      body: 'KEY of 9',
    });
  });

  test('is rejected if `verify.order` makes a text of an id that has lost digits', async () => {
    const { goods, asked } = watched({
      verify: { order: ({ id, status }) => ({ id: `ord_${id}`, status }) },
    });
    const callFor = (id: string) => call(goods, `{"id":${id},"status":100}`);
    const answer = await callFor('9007199254740993');
    expect([answer.status, JSON.parse(answer.body).errors]).toEqual([
      422,
      ['id is not as expected'],
    ]);
    expect(asked).toEqual([]);
    expect(await callFor('9007199254740991')).toMatchObject({ status: 200 });
  });

  test('with a huge id and many large numbers does not block the event loop', async () => {
    const { goods } = watched({
      verify: { signed: false, order: ({ data }) => data, allow: () => false },
    });
    const numbers = '22222222222222223,'.repeat(20_000);
    const body = `{"data":{"id":"${'2'.repeat(500_000)}"},"numbers":[${numbers}1]}`;
    const beganAt = performance.now();
    expect(await call(goods, body, UNSIGNED)).toMatchObject({ status: 403 });
    expect(performance.now() - beganAt).toBeLessThan(5_000);
  });

  test('that throws when it is read only gets a 500', async () => {
    const order = async () => {
      throw new Error('no such order');
    };
    const { goods, onError, asked } = watched({ verify: { order } });
    expect(await call(goods)).toMatchObject({ status: 500 });
    expect(onError).toHaveBeenCalledOnce();
    expect(asked).toEqual([]);
  });

  test('that is not read within 10 s gets a 500', async () => {
    skipWaits();
    const order = () => new Promise<unknown>(() => {});
    const { goods, onError, asked } = watched({ verify: { order } });
    expect(await ended(call(goods), 'the call')).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'timed_out',
      message: expect.stringContaining('verify.order did not answer within 10000 ms'),
    });
    expect(asked).toEqual([]);
  });

  test.each([
    [100, undefined, 200],
    [undefined, undefined, 422],
    [null, undefined, 422],
    [0, undefined, 422],
    [56, undefined, 422],
    ['100', undefined, 422],
    [false, undefined, 422],
    ['COMPLETED', ['COMPLETED'], 200],
    [100, ['COMPLETED'], 422],
  ])('with the status %o and paidStatuses %o gets %d', async (status, paidStatuses, answer) => {
    const { goods, orders, onRejected } = watched({ ...(paidStatuses && { paidStatuses }) });
    expect((await call(goods, { id: 'ord_1', status })).status).toBe(answer);
    expect(orders).toHaveLength(answer === 200 ? 1 : 0);
    if (answer === 200) return;
    expect(onRejected.mock.calls[0]?.[0]).toMatchObject({
      id: 'ord_1',
      event: 'goods',
      verified: true,
      issues: [
        { path: 'status', message: expect.stringMatching(/paidStatuses are|`verify\.allow`/) },
      ],
    });
  });

  test('has goods for each of its products with an oncePer of both', async () => {
    const { goods } = watched({ oncePer: ({ id, product_id }) => `${id}:${product_id}` });
    expect(await call(goods)).toMatchObject({ outcome: 'handled' });
    expect(await call(goods, { ...ORDER, product_id: 'prd_2' })).toMatchObject({
      outcome: 'handled',
    });
    expect(await call(goods)).toMatchObject({ outcome: 'duplicate' });
  });

  test.each([
    ['nothing', () => undefined],
    ['an empty text', () => ''],
    ['a promise', async () => 'ord_1'],
  ])('cannot have %s as its key', async (_, oncePer) => {
    const { goods, onError, orders } = watched({ oncePer: oncePer as () => string });
    expect(await call(goods)).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'key_invalid',
      message: expect.stringContaining('oncePer of createGoods'),
    });
    expect(orders).toEqual([]);
  });
});

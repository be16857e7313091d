import { memoryStore } from 'storefront-webhooks';
import {
  createGoods,
  type GoodsOptions,
  type GoodsOrder,
  hasToken,
} from 'storefront-webhooks/goods';
import { describe, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/forward.js';
import { call, ORDER, SECRET } from './calls.js';

/** Goods, with what they were made of, and what the store and the hooks were told. */
function setUp(options: GoodsOptions = {}) {
  const orders: GoodsOrder[] = [];
  const onRejected = vi.fn();
  const onError = vi.fn();
  const asked: (string | null)[] = [];
  const store = forward(memoryStore(), {}, (run, key) => {
    asked.push(key);
    return run();
  });
  const goods = createGoods(
    {
      ...(options.verify?.signed !== false && { secret: SECRET }),
      store,
      hooks: { onRejected, onError },
      ...options,
    },
    (order) => {
      orders.push(order);
      return `KEY of ${order.id}`;
    },
  );
  return { goods, orders, onRejected, onError, asked };
}

const UNSIGNED = { headers: { 'x-service-signature': '' } };

describe('a call that is signed', () => {
  test.each([
    ['has no signature', UNSIGNED, 401, 'signature_invalid'],
    ['has that of another secret', { secret: 'another secret' }, 401, 'signature_invalid'],
    ['is no POST', { method: 'GET' }, 405, 'method_not_allowed'],
    [
      'says that it is too large',
      { headers: { 'content-length': '2000000' } },
      413,
      'body_too_large',
    ],
    ['is encoded', { headers: { 'content-encoding': 'gzip' } }, 415, 'encoding_unsupported'],
  ])('is refused where it %s, and nothing is made or stored', async (_, sent, status, code) => {
    const { goods, orders, asked, onRejected } = setUp();
    const answer = await call(goods, ORDER, sent);
    expect(answer).toMatchObject({ status, outcome: 'rejected' });
    expect(onRejected).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code }));
    expect({ orders, asked }).toEqual({ orders: [], asked: [] });
  });

  test('needs neither an event nor an id, and may have them', async () => {
    const { goods } = setUp();
    const headers = { 'x-service-event': 'a,b', 'x-service-webhook': 'whl_1' };
    expect(await call(goods, ORDER, { headers })).toMatchObject({ status: 200 });
  });

  test.each([
    [undefined, 400],
    ['order:paid', 400],
    ['product:dynamic', 200],
  ])('whose event has to be one of yours is read by its header: %s', async (event, status) => {
    const { goods } = setUp({ verify: { event: 'product:dynamic' } });
    const headers = event === undefined ? {} : { 'x-service-event': event };
    expect((await call(goods, ORDER, { headers })).status).toBe(status);
  });

  test('may be of several shops, whose goods are their own', async () => {
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
  test('needs an id, a text or a number, and nothing else', async () => {
    const { goods, orders } = setUp();
    expect(await call(goods, { id: 'ord_1' })).toMatchObject({ body: 'KEY of ord_1' });
    expect(await call(goods, { id: 42, price: 1 })).toMatchObject({ body: 'KEY of 42' });
    expect(await call(goods, { id: '42' })).toMatchObject({ outcome: 'duplicate' });
    expect(orders).toEqual([{ id: 'ord_1' }, { id: '42', price: 1 }]);
  });

  test('is read generously: what does not fit is left out, and told of', async () => {
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
  ])('is refused where it is or has %s, with what to change', async (_, order) => {
    const { goods, asked, onRejected } = setUp();
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

  test('is refused as a body that is no JSON', async () => {
    const { goods } = setUp();
    expect(await call(goods, 'id=ord_1')).toMatchObject({ status: 400, outcome: 'rejected' });
  });

  test('may stand deeper in the body', async () => {
    const { goods } = setUp({ verify: { order: ({ data }) => data } });
    expect(await call(goods, { event: 'x', data: ORDER })).toMatchObject({ status: 200 });
    expect(await call(goods, ORDER)).toMatchObject({ status: 422 });
    const elsewhere = setUp({ verify: { order: async ({ order_id: id }) => ({ id }) } });
    expect(await call(elsewhere.goods, { order_id: 9 })).toMatchObject({ body: 'KEY of 9' });
  });

  test('that cannot be taken out costs no more than its answer', async () => {
    const order = async () => {
      throw new Error('no such order');
    };
    const { goods, onError, asked } = setUp({ verify: { order } });
    expect(await call(goods)).toMatchObject({ status: 500 });
    expect(onError).toHaveBeenCalledOnce();
    expect(asked).toEqual([]);
  });

  test.each([
    [100, undefined, 200],
    [undefined, undefined, 200],
    [null, undefined, 200],
    [0, undefined, 422],
    [56, undefined, 422],
    ['100', undefined, 422],
    [false, undefined, 422],
    ['COMPLETED', ['COMPLETED'], 200],
    [100, ['COMPLETED'], 422],
  ])(
    'with the status %o where paid are %o is answered %d',
    async (status, paidStatuses, answer) => {
      const { goods, orders, onRejected } = setUp({ ...(paidStatuses && { paidStatuses }) });
      expect((await call(goods, { id: 'ord_1', status })).status).toBe(answer);
      expect(orders).toHaveLength(answer === 200 ? 1 : 0);
      if (answer === 200) return;
      expect(onRejected.mock.calls[0]?.[0]).toMatchObject({
        id: 'ord_1',
        event: 'goods',
        verified: true,
        issues: [{ path: 'status', message: expect.stringContaining('paidStatuses are') }],
      });
    },
  );

  test('has goods for each of its products, where you say so', async () => {
    const { goods } = setUp({ oncePer: ({ id, product_id }) => `${id}:${product_id}` });
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
  ])('cannot be told from others by %s', async (_, oncePer) => {
    const { goods, onError, orders } = setUp({ oncePer: oncePer as () => string });
    expect(await call(goods)).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'key_invalid',
      message: expect.stringContaining('oncePer of createGoods'),
    });
    expect(orders).toEqual([]);
  });
});

describe('a call that is not signed', () => {
  test('gets goods where `allow` says so, by the call as it came', async () => {
    const allow = vi.fn(() => true);
    const { goods } = setUp({ verify: { signed: false, allow } });
    const sent = { url: '/goods?a=1', headers: { Authorization: 'Basic x' } };
    expect(await call(goods, ORDER, sent)).toMatchObject({ status: 200, body: 'KEY of ord_1' });
    expect(allow).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(ORDER), {
      path: '/goods',
      query: new URLSearchParams('a=1'),
      headers: expect.objectContaining({ authorization: 'Basic x' }),
    });
  });

  test.each([[false], [null], [undefined]])(
    'is refused where `allow` gives %o, and nothing is made or stored',
    async (allowed) => {
      const verify = { signed: false, allow: async () => allowed };
      const { goods, orders, asked, onRejected } = setUp({ verify });
      expect(await call(goods)).toMatchObject({ status: 403, outcome: 'rejected' });
      expect(onRejected).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ code: 'call_refused', verified: false, id: 'ord_1' }),
      );
      expect({ orders, asked }).toEqual({ orders: [], asked: [] });
    },
  );

  test('is believed nothing of where `allow` gives the order: neither what was bought, nor that it was paid', async () => {
    const known = new Map([
      ['ord_1', { id: 'ord_1', status: 100, product_id: 'cheap' }],
      ['ord_2', { id: 'ord_2', status: 0, product_id: 'cheap' }],
    ]);
    const allow = ({ id }: GoodsOrder) => known.get(id);
    const { goods, orders } = setUp({ verify: { signed: false, allow } });
    const forged = { status: 100, product_id: 'dear' };
    expect(await call(goods, { id: 'ord_1', ...forged })).toMatchObject({ status: 200 });
    expect(await call(goods, { id: 'ord_2', ...forged })).toMatchObject({ status: 422 });
    expect(await call(goods, { id: 'ord_3', ...forged })).toMatchObject({ status: 403 });
    expect(orders).toEqual([known.get('ord_1')]);
  });

  test.each([
    ['a text', 'yes'],
    ['an order without an id', { status: 100 }],
  ])('is answered 500 where `allow` gives %s', async (_, allowed) => {
    const allow = () => allowed as object;
    const { goods, onError, orders } = setUp({ verify: { signed: false, allow } });
    expect(await call(goods)).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'option_invalid' });
    expect(orders).toEqual([]);
  });

  test('is still looked at for its method, its size and its event', async () => {
    const { goods } = setUp({ verify: { signed: false, allow: () => true, event: 'dynamic' } });
    const headers = { 'x-service-event': 'dynamic' };
    expect((await call(goods, ORDER, { headers })).status).toBe(200);
    expect((await call(goods, ORDER)).status).toBe(400);
    expect((await call(goods, ORDER, { headers, method: 'PUT' })).status).toBe(405);
    const large = { ...headers, 'content-length': '2000000' };
    expect((await call(goods, ORDER, { headers: large })).status).toBe(413);
  });

  test('may be asked for a token beside its signature', async () => {
    const { goods } = setUp({ verify: { allow: hasToken('a token of the shop') } });
    const url = '/goods?token=a+token+of+the+shop';
    expect((await call(goods, ORDER, { url })).status).toBe(200);
    expect((await call(goods, ORDER, { url, ...UNSIGNED })).status).toBe(401);
    expect((await call(goods)).status).toBe(403);
  });
});

describe('a token', () => {
  const token = '0123456789abcdef';

  test.each([
    ['token=0123456789abcdef', 200],
    ['token=0123456789abcdeF', 403],
    ['token=0123456789abcdef0', 403],
    ['token=', 403],
    ['key=0123456789abcdef', 403],
    ['', 403],
  ])('has to be that of the address: ?%s', async (query, status) => {
    const { goods } = setUp({ verify: { signed: false, allow: hasToken(token) } });
    expect((await call(goods, ORDER, { url: `/goods?${query}` })).status).toBe(status);
  });

  test('may have another name', async () => {
    const { goods } = setUp({ verify: { signed: false, allow: hasToken(token, 'key') } });
    expect((await call(goods, ORDER, { url: `/goods?key=${token}` })).status).toBe(200);
  });

  test.each([[undefined], [''], ['undefined'], ['short'], [' '.repeat(20)]])(
    'cannot be %o',
    (given) => {
      expect(() => hasToken(given)).toThrow(expect.objectContaining({ code: 'secret_invalid' }));
    },
  );
});

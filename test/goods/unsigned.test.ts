import { type GoodsOrder, hasToken } from 'storefront-webhooks/goods';
import { describe, expect, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { ended } from '../support/patience.js';
import { call, ORDER, UNSIGNED, watched } from './calls.js';

describe('an unsigned call', () => {
  test('gets goods if `allow` returns true for it', async () => {
    const allow = vi.fn(() => true);
    const { goods } = watched({ verify: { signed: false, allow } });
    const sent = { url: '/goods?a=1', headers: { Authorization: 'Basic x' } };
    expect(await call(goods, ORDER, sent)).toMatchObject({ status: 200, body: 'KEY of ord_1' });
    expect(allow).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(ORDER), {
      path: '/goods',
      query: new URLSearchParams('a=1'),
      headers: expect.objectContaining({ authorization: 'Basic x' }),
    });
  });

  test.each([[false], [null], [undefined]])(
    'is rejected if `allow` returns %o, and nothing is made or stored',
    async (allowed) => {
      const verify = { signed: false, allow: async () => allowed };
      const { goods, orders, asked, onRejected } = watched({ verify });
      expect(await call(goods)).toMatchObject({ status: 403, outcome: 'rejected' });
      expect(onRejected).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ code: 'call_refused', verified: false, id: 'ord_1' }),
      );
      expect({ orders, asked }).toEqual({ orders: [], asked: [] });
    },
  );

  test('has no influence on the product or the status if `allow` returns the order', async () => {
    const known = new Map([
      ['ord_1', { id: 'ord_1', status: 100, product_id: 'cheap' }],
      ['ord_2', { id: 'ord_2', status: 0, product_id: 'cheap' }],
    ]);
    const allow = ({ id }: GoodsOrder) => known.get(id);
    const { goods, orders } = watched({ verify: { signed: false, allow } });
    const forged = { status: 100, product_id: 'dear' };
    expect(await call(goods, { id: 'ord_1', ...forged })).toMatchObject({ status: 200 });
    expect(await call(goods, { id: 'ord_2', ...forged })).toMatchObject({ status: 422 });
    expect(await call(goods, { id: 'ord_3', ...forged })).toMatchObject({ status: 403 });
    expect(orders).toEqual([known.get('ord_1')]);
  });

  test.each([
    ['a text', 'yes'],
    ['an order without an id', { status: 100 }],
  ])('gets a 500 if `allow` returns %s', async (_, allowed) => {
    const allow = () => allowed as object;
    const { goods, onError, orders } = watched({ verify: { signed: false, allow } });
    expect(await call(goods)).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'option_invalid' });
    expect(orders).toEqual([]);
  });

  test('fails after 10 s if `allow` does not answer', async () => {
    skipWaits();
    const allow = () => new Promise<boolean>(() => {});
    const { goods, onError, orders } = watched({ verify: { signed: false, allow } });
    expect(await ended(call(goods), 'the call')).toMatchObject({ status: 500 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'timed_out',
      message: expect.stringContaining('verify.allow did not answer within 10000 ms'),
    });
    expect(orders).toEqual([]);
  });

  test('is still checked for its method, its size and its event', async () => {
    const { goods } = watched({ verify: { signed: false, allow: () => true, event: 'dynamic' } });
    const headers = { 'x-service-event': 'dynamic' };
    expect((await call(goods, ORDER, { headers })).status).toBe(200);
    expect((await call(goods, ORDER)).status).toBe(400);
    expect((await call(goods, ORDER, { headers, method: 'PUT' })).status).toBe(405);
    const large = { ...headers, 'content-length': '2000000' };
    expect((await call(goods, ORDER, { headers: large })).status).toBe(413);
  });

  test('may need a token in addition to a signature', async () => {
    const { goods } = watched({ verify: { allow: hasToken('a token of the shop') } });
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
  ])('has to match in the address: ?%s', async (query, status) => {
    const { goods } = watched({ verify: { signed: false, allow: hasToken(token) } });
    expect((await call(goods, ORDER, { url: `/goods?${query}` })).status).toBe(status);
  });

  test('may have another name', async () => {
    const { goods } = watched({ verify: { signed: false, allow: hasToken(token, 'key') } });
    expect((await call(goods, ORDER, { url: `/goods?key=${token}` })).status).toBe(200);
  });

  test.each([
    [undefined],
    [''],
    ['undefined'],
    ['short'],
    [' '.repeat(20)],
    ['0123456789abcdef\n'],
    [' 0123456789abcdef'],
    ['[object Promise]'],
    ['undefinedundefined'],
    ['nullnullnullnull'],
    ['\u200b'.repeat(20)],
    [`short${'\u200b'.repeat(20)}`],
    ['a'.repeat(20)],
    ['"0123456789abcdef"'],
    ['0123456789+abcdef'],
    ['0123456789&abcdef'],
    ['0123456789#abcdef'],
    ['0123456789%41bcdef'],
  ])('cannot be %j', (given) => {
    expect(() => hasToken(given)).toThrow(expect.objectContaining({ code: 'secret_invalid' }));
  });

  test.each(['-', '_', '.', '~', '/', '=', ':', '@', '!'])(
    'may have %s, which no address has to encode',
    async (one) => {
      const odd = `0123456789${one}abcdef`;
      const { goods } = watched({ verify: { signed: false, allow: hasToken(odd) } });
      expect((await call(goods, ORDER, { url: `/goods?token=${odd}` })).status).toBe(200);
    },
  );

  test('is rejected with the characters to use if an address would change it', () => {
    expect(() => hasToken('0123456789+abcdef')).toThrow(
      'it has one of + & # %, which mean something else in an address: use letters, digits, - and _.',
    );
  });

  test('is not repeated in the rejection', () => {
    expect(() => hasToken('hunter2hunter2hunter2\n')).not.toThrow(/hunter2/);
  });
});

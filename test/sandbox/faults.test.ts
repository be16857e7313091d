import { describe, expect, test } from 'vitest';
import { Faults } from '../../src/sandbox/faults.js';
import { openSeller, TUNER } from './seller.js';

/** Returns which of this many calls a fault affects. */
function struck(fault: object, calls = 12): number[] {
  const faults = new Faults();
  faults.add({ operation: 'orders.list', status: 503, ...fault });
  return Array.from({ length: calls }, (_, at) => at + 1).filter(() =>
    faults.strike('orders.list'),
  );
}

describe('a fault affects', () => {
  test('the next call', () => expect(struck({})).toEqual([1]));
  test('the next three calls', () => expect(struck({ times: 3 })).toEqual([1, 2, 3]));
  test('two calls after the first two', () =>
    expect(struck({ times: 2, after: 2 })).toEqual([3, 4]));
  test('some of many calls, chosen by the seed', () => {
    const picked = struck({ times: 3, among: 10, seed: 7 });
    expect(picked).toHaveLength(3);
    expect(struck({ times: 3, among: 10, seed: 7 })).toEqual(picked);
    const others = Array.from({ length: 20 }, (_, seed) =>
      struck({ times: 3, among: 10, seed }).join(),
    );
    expect(new Set(others).size).toBeGreaterThan(10);
  });
  test('no call of another operation', () => {
    const faults = new Faults();
    faults.add({ operation: 'orders.get', status: 503 });
    expect(faults.strike('orders.list')).toBeUndefined();
    expect(faults.strike('orders.get')).toMatchObject({ status: 503 });
  });
  test('one call after another, if several faults are planned', () => {
    const faults = new Faults();
    faults.add({ operation: 'orders.list', status: 500, after: 1 });
    faults.add({ operation: 'orders.list', status: 503, times: 2 });
    const statuses = [1, 2, 3].map(() => faults.strike('orders.list')?.status);
    expect(statuses).toEqual([503, 500, 503]);
  });
  test('the next free call, if another fault affects its own, and the rest as planned', () => {
    const scattered = { times: 2, among: 5, seed: 8 };
    expect(struck(scattered)).toEqual([1, 3]);
    const faults = new Faults();
    faults.add({ operation: 'orders.list', status: 429 });
    faults.add({ operation: 'orders.list', status: 503, ...scattered });
    const statuses = [1, 2, 3, 4].map(() => faults.strike('orders.list')?.status);
    expect(statuses).toEqual([429, 503, 503, undefined]);
    expect(faults.list()).toEqual([]);
  });
});

test('a fault for an unknown operation is rejected with the nearest name', async () => {
  const { account, send } = await openSeller();
  const wrong = { operation: 'order.get', status: 503 };
  expect(() => account.faults.add(wrong as never)).toThrow(
    /no operation order\.get\. Did you mean "orders\.get"\?/,
  );
  const { status, body } = await send('POST', '/sandbox/faults', 'operation=order.get&status=503');
  expect(status).toBe(400);
  expect(body.errors).toEqual([expect.stringMatching(/Did you mean "orders\.get"/)]);
});

test.each([
  ['status=418', /status/],
  ['status=503&times=0', /times has to be at least 1/],
  ['status=503&every=2', /^there is no every\. There are operation/],
])('a fault with %s is rejected', async (fields, error) => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', '/sandbox/faults', `operation=orders.get&${fields}`);
  expect(status).toBe(400);
  expect(body.errors.join()).toMatch(error);
});

test('the client retries after 503 and succeeds', async () => {
  const { account, client, send } = await openSeller();
  const { id } = await client.products.create(TUNER);
  account.faults.add({ operation: 'products.get', status: 503, times: 2, seconds: 0 });
  const first = await send('GET', `/api/v2/products/${id}`);
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '0']);
  expect((await send('GET', `/api/v2/products/${id}`)).status).toBe(503);
  expect((await send('GET', `/api/v2/products/${id}`)).status).toBe(200);
});

test('a request that a fault answers changes nothing', async () => {
  const { account, client } = await openSeller();
  account.faults.add({ operation: 'products.create', status: 500 });
  await expect(client.products.create(TUNER)).rejects.toMatchObject({ code: 'server_failed' });
  expect((await client.products.list()).items).toEqual([]);
});

test('the HTTP API adds, lists and removes faults', async () => {
  const { send } = await openSeller();
  const fault = { operation: 'orders.get', status: 503, times: 2 };
  const made = await send('POST', '/sandbox/faults', JSON.stringify(fault), {
    'content-type': 'application/json',
  });
  expect(made).toMatchObject({ status: 201, body: fault });
  expect((await send('GET', '/sandbox/faults')).body).toEqual([fault]);
  expect((await send('DELETE', '/sandbox/faults')).status).toBe(204);
  expect((await send('GET', '/sandbox/faults')).body).toEqual([]);
  expect((await send('GET', '/api/v2/orders/none')).status).toBe(404);
});

test('a fault of the sandbox affects all its accounts', async () => {
  const { sandbox, send } = await openSeller();
  sandbox.faults.add({ operation: 'orders.list', status: 429, times: 2 });
  const other = { authorization: 'Bearer sk_test_other' };
  expect((await send('GET', '/api/v2/orders')).status).toBe(429);
  expect((await send('GET', '/api/v2/orders', undefined, other)).status).toBe(429);
  expect((await send('GET', '/api/v2/orders')).status).toBe(200);
});

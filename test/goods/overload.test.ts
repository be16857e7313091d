import { memoryStore } from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { sign } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { gate } from '../support/gate.js';
import { call, ORDER, SECRET, watched } from './calls.js';

/** The most calls that a process accepts at once. */
const FULL = 4_000;

/** Goods whose unsigned calls wait for `open()`. */
function waiting(limit = 1024 * 1024) {
  const { opened, open } = gate<boolean>();
  const allow = vi.fn(() => opened);
  const onError = vi.fn();
  const options = { verify: { signed: false, allow }, limit, store: memoryStore() } as const;
  const goods = createGoods({ ...options, hooks: { onError } }, () => 'KEY');
  const send = (order: object, times = 1) => {
    const body = new TextEncoder().encode(JSON.stringify(order));
    const sent = { method: 'POST', url: '/goods', headers: {}, body };
    return Array.from({ length: times }, () => goods.receive(sent));
  };
  return { send, open, allow, onError };
}

const statuses = async (sent: readonly Promise<{ readonly status: number }>[]) =>
  (await Promise.all(sent)).map(({ status }) => status);

test('unsigned calls whose objects may take more than 64 MiB are answered 503', async () => {
  const { send, open, allow, onError } = waiting();
  // In memory, these take twenty times their bytes.
  const large = { ...ORDER, note: Array(330_000).fill({}) };
  const calls = send(large, 67);
  await vi.waitUntil(() => onError.mock.calls.length > 0);
  open(true);
  const answers = await statuses(calls);
  expect(answers.slice(0, 2)).toEqual([200, 200]);
  expect(new Set(answers.slice(2))).toEqual(new Set([503]));
  expect(allow).toHaveBeenCalledTimes(2);
  const reported = expect.objectContaining({ code: 'overloaded' });
  expect(onError).toHaveBeenCalledExactlyOnceWith(reported, expect.anything());
  expect(await statuses(send(ORDER))).toEqual([200]);
});

test('hundreds of unsigned calls of the usual size may wait, but not any number', async () => {
  const usual = waiting();
  const order = { ...ORDER, note: ' '.repeat(4_000) };
  const calls = usual.send(order, 400);
  await vi.waitUntil(() => usual.allow.mock.calls.length === 400);
  usual.open(true);
  expect(new Set(await statuses(calls))).toEqual(new Set([200]));

  const small = waiting();
  const more = small.send(ORDER, 10_000);
  await vi.waitUntil(() => small.onError.mock.calls.length > 0);
  small.open(true);
  expect(new Set(await statuses(more))).toEqual(new Set([200, 503]));
});

test('a call whose `verify.order` throws gives its memory back', async () => {
  const order = async () => {
    throw new Error('no such order');
  };
  const { goods } = watched({ verify: { order } });
  const large = { ...ORDER, note: ' '.repeat(1_000_000) };
  // Two of these take nearly all the memory.
  for (let sent = 0; sent < 3; sent += 1) expect((await call(goods, large)).status).toBe(500);
});

test('an unsigned call that waits alone is accepted at any size within `limit`', async () => {
  const { send, open } = waiting(4 * 1024 * 1024);
  open(true);
  const order = { ...ORDER, note: ' '.repeat(3_000_000) };
  expect(await statuses(send(order))).toEqual([200]);
  // The first call has given all of its memory back, so this one is alone as well.
  expect(await statuses(send({ ...order, id: 'ord_2' }))).toEqual([200]);
});

test('a call for which there is no room is answered 503 before its body is read', async () => {
  const { opened, open } = gate<string>();
  const make = vi.fn(() => opened);
  const hooks = { onError() {} };
  const goods = createGoods({ secret: SECRET, store: memoryStore(), hooks }, make);
  const calls = Array.from({ length: FULL }, (_, at) => call(goods, { ...ORDER, id: `ord_${at}` }));
  await vi.waitUntil(() => make.mock.calls.length === FULL, 10_000);
  const body = new TextEncoder().encode(JSON.stringify(ORDER));
  const read = vi.fn(async () => body);
  const headers = { 'x-service-signature': sign(body, SECRET) };
  const request = { method: 'POST', url: '/goods', headers, body: read };
  expect(await goods.receive(request)).toMatchObject({ status: 503, outcome: 'unavailable' });
  expect(read).not.toHaveBeenCalled();
  open('KEY');
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(await goods.receive(request)).toMatchObject({ status: 200, outcome: 'duplicate' });
  expect(read).toHaveBeenCalledOnce();
});

import { memoryStore } from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { sign } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { gate } from '../support/gate.js';
import { call, ORDER, SECRET } from './calls.js';

/** The most calls that a process accepts at once. */
const FULL = 4_000;

test('unsigned calls of more than 64 MiB that wait for verify.allow are answered 503', async () => {
  const { opened, open } = gate<boolean>();
  const allow = vi.fn(() => opened);
  const verify = { signed: false, allow } as const;
  const onError = vi.fn();
  const goods = createGoods({ verify, store: memoryStore(), hooks: { onError } }, () => 'KEY');
  const body = new TextEncoder().encode(JSON.stringify({ ...ORDER, note: ' '.repeat(1_000_000) }));
  const send = () => goods.receive({ method: 'POST', url: '/goods', headers: {}, body });
  const waiting = Array.from({ length: 67 }, send);
  await vi.waitUntil(() => allow.mock.calls.length === 67);
  expect(await send()).toMatchObject({ status: 503, outcome: 'unavailable' });
  expect(await send()).toMatchObject({ status: 503 });
  expect(allow).toHaveBeenCalledTimes(67);
  const reported = expect.objectContaining({ code: 'overloaded' });
  expect(onError).toHaveBeenCalledExactlyOnceWith(reported, expect.anything());
  open(true);
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(await send()).toMatchObject({ status: 200 });
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

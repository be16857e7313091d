import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { toNodeHandler } from 'storefront-webhooks/node';
import { replay } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { gate } from '../support/gate.js';
import { ended } from '../support/patience.js';
import { call, ORDER } from './calls.js';

test('goods and a receiver on one server can be closed together, and answer the requests that have arrived', async () => {
  const { open, opened } = gate<string>();
  const slowly = vi.fn(() => opened);
  const store = memoryStore();
  const receiver = createReceiver({ secret: SECRET, store }).on('*', slowly);
  const goods = createGoods({ secret: SECRET, store }, slowly);
  const webhooks = toNodeHandler(receiver);
  const toGoods = toNodeHandler(goods);
  const server = createServer((request, response) =>
    request.url === '/goods' ? toGoods(request, response) : webhooks(request, response),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sent = Promise.all([
    replay(`${origin}/webhooks`, 'order:paid', { secret: SECRET }),
    replay(`${origin}/goods`, 'goods', { secret: SECRET }),
  ]);
  await vi.waitFor(() => expect(slowly).toHaveBeenCalledTimes(2));
  const limit = { server, timeoutMs: 60_000 };
  const closing = Promise.all([receiver.close(limit), goods.close(limit)]);
  open('KEY-1');
  await ended(closing, 'the close of both');
  expect(server.listening).toBe(false);
  const [delivered, given] = await sent;
  expect(delivered).toMatchObject({ status: 200, outcome: 'handled' });
  expect(given).toMatchObject({ status: 200, body: 'KEY-1' });
});

test('goods are closed only after their last answer has been sent', async () => {
  const { open, opened } = gate<string>();
  const goods = createGoods({ secret: SECRET, store: memoryStore() }, () => 'KEY-1');
  const given = await call(goods, ORDER, { responseSent: opened });
  const closed = vi.fn();
  const closing = goods.close().then(closed);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([given.status, closed.mock.calls]).toEqual([200, []]);
  open('');
  await ended(closing, 'the close');
});

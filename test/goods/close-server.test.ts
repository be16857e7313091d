import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { toNodeHandler } from 'storefront-webhooks/node';
import { replay } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';

test('goods and a receiver on one server close together, and pending requests are answered', async () => {
  const slowly = () => new Promise<string>((resolve) => setTimeout(() => resolve('KEY-1'), 300));
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
  await new Promise((resolve) => setTimeout(resolve, 100));
  const startedAt = performance.now();
  await Promise.all([receiver.close({ server }), goods.close({ server })]);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(server.listening).toBe(false);
  const [delivered, given] = await sent;
  expect(delivered).toMatchObject({ status: 200, outcome: 'handled' });
  expect(given).toMatchObject({ status: 200, body: 'KEY-1' });
});

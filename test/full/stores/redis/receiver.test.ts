import { Redis } from 'ioredis';
import { createReceiver } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('receivers that share a Redis', () => {
  let server: RedisServer;
  const clients: Redis[] = [];
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.remove();
  });

  function newReceiver(handle: () => Promise<void>) {
    const client = quiet(new Redis(server.url));
    clients.push(client);
    const receiver = createReceiver({
      secret: SECRET,
      store: redisStore(client),
      hooks: { onError() {} },
    });
    receiver.on('order:paid', handle);
    return receiver;
  }

  test('handle a delivery once, for any number of copies at any process', async () => {
    const handle = vi.fn(async () => {});
    const receivers = [newReceiver(handle), newReceiver(handle), newReceiver(handle)];
    const replies = await Promise.all(
      receivers.flatMap((receiver) =>
        Array.from({ length: 5 }, () => deliver(receiver, paidOrder())),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(handle).toHaveBeenCalledOnce();
    for (const receiver of receivers) await receiver.close();
    // Deliver to a new receiver, as after a restart.
    expect((await deliver(newReceiver(handle), paidOrder())).status).toBe(200);
    expect(handle).toHaveBeenCalledOnce();
  });

  test('resume a delivery that failed in another process, and skip its completed handlers', async () => {
    const mail = vi.fn(async () => {});
    const isOut = vi.fn(async () => {
      throw new Error('out of stock');
    });
    const first = newReceiver(mail);
    first.on('order:paid', isOut, { name: 'stock' });
    const order = paidOrder({ id: 'ord_2' });
    expect((await deliver(first, order)).status).toBe(500);
    const inStock = vi.fn(async () => {});
    const second = newReceiver(mail);
    second.on('order:paid', inStock, { name: 'stock' });
    expect((await deliver(second, order)).status).toBe(200);
    expect(inStock).toHaveBeenCalledOnce();
    expect(mail).toHaveBeenCalledOnce();
  });
});

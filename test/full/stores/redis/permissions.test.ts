import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createReceiver } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { acquire, LONG_AGO_MS, newDelivery, RETRY } from '../../../stores/redis/deliveries.js';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

const documented = /`ACL SETUSER (webhooks [^`]+)`/.exec(readFileSync('docs/stores.md', 'utf8'));
const rules = (documented?.[1] ?? '').split(' ');

withRedis('the Redis store, as a user with few permissions', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis();
    admin = quiet(new Redis(server.url));
  });
  afterAll(async () => {
    admin.disconnect();
    await server.remove();
  });
  beforeEach(async () => {
    await admin.flushdb();
    await admin.call('ACL', 'DELUSER', 'webhooks');
  });

  /** Opens a client of the documented user, without some commands. */
  async function open(...without: string[]) {
    await admin.call('ACL', 'SETUSER', ...rules, ...without.map((command) => `-${command}`));
    const client = quiet(new Redis(server.url, { username: 'webhooks', password: 'password' }));
    onTestFinished(() => client.disconnect());
    return client;
  }

  test('each verb runs with the commands that docs/stores.md lists', async () => {
    const store = redisStore(await open());
    const [done, retried, dead, stalled] = Array.from({ length: 4 }, newDelivery);
    if (!done || !retried || !dead || !stalled) throw new Error('Four deliveries are missing.');
    for (const delivery of [done, retried, dead, stalled]) {
      const { fence } = await acquire(store, delivery, {
        leaseMs: delivery === stalled ? LONG_AGO_MS : 60_000,
      });
      const { key } = delivery;
      if (delivery === done) expect(await store.complete(key, fence, 60_000)).toBe(true);
      if (delivery === retried) expect(await store.fail(key, fence, RETRY)).toBe('retry');
      if (delivery === dead) {
        expect(await store.completeStep(key, fence, '1', 'a')).toBe(true);
        expect(await store.renew(key, fence, 60_000)).toBe(true);
        expect(await store.fail(key, fence, { ...RETRY, permanent: true })).toBe('dead');
      }
    }
    expect(await store.isDone?.(done.key)).toBe(true);
    for (const state of ['dead', 'stalled', 'failing'] as const) {
      expect(await store.list({ state, limit: 9 })).toHaveLength(1);
      expect(await store.count({ state })).toBe(1);
    }
    expect(await store.redrive(dead.key)).toBe(true);
    expect(await store.purge(9)).toBe(0);
  });

  const COMMANDS = [
    'set',
    'del',
    'persist',
    'pexpireat',
    'get',
    'hmget',
    'hget',
    'hkeys',
    'hexists',
    'zadd',
    'zrem',
  ];

  test.each(COMMANDS)('no handler runs without %s, and the error names it', async (command) => {
    const errors: unknown[] = [];
    let sold = 0;
    const receiver = createReceiver({
      secret: SECRET,
      store: redisStore(await open(command)),
      hooks: { onError: (error) => errors.push(error), onRejected() {} },
    }).onPaid(() => {
      sold++;
    });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 503 });
    expect(sold).toBe(0);
    expect(errors).toMatchObject([
      {
        code: 'store_unavailable',
        cause: {
          code: 'client_invalid',
          message: expect.stringContaining(` ${command.toUpperCase()},`),
        },
      },
    ]);
    // The next delivery looks again.
    await admin.call('ACL', 'SETUSER', 'webhooks', `+${command}`);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200 });
    expect(sold).toBe(1);
  });

  test.each(['set', 'zrem'])(
    'a delivery keeps its lease, if the user loses %s',
    async (command) => {
      const client = await open();
      const store = redisStore(client);
      const delivery = newDelivery();
      const { fence } = await acquire(store, delivery);
      await admin.call('ACL', 'SETUSER', 'webhooks', `-${command}`);
      await expect(store.complete(delivery.key, fence, 60_000)).rejects.toThrow('run this command');
      await admin.call('ACL', 'SETUSER', 'webhooks', `+${command}`);
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
    },
  );
});

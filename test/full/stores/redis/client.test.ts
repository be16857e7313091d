import { createClient, createClientPool, RESP_TYPES } from 'redis';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { acquire, newDelivery } from '../../../stores/redis/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('clients of node-redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  test('with other decoders, and pools, are accepted', async () => {
    const buffers = createClient({
      url: server.url,
      commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    });
    const pool = createClientPool({ url: server.url });
    await quiet(buffers).connect();
    await quiet(pool).connect();
    try {
      for (const other of [redisStore(buffers), redisStore(pool)]) {
        const delivery = newDelivery();
        const { fence } = await acquire(other, delivery);
        expect(await other.complete(delivery.key, fence, 60_000)).toBe(true);
      }
    } finally {
      buffers.destroy();
      pool.destroy();
    }
  });
});

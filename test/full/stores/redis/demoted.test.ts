import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClient, createClientPool } from 'redis';
import { redisStore } from 'storefront-webhooks/redis';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { newDelivery, terms } from '../../../stores/redis/deliveries.js';
import { type FaultyProxy, startFaultyProxy } from '../../../support/faulty-proxy.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

/** As docs/stores.md promises. */
const BACK_MS = 10_000;
const READONLY = /READONLY/;

withRedis('a primary that becomes a replica and keeps its connections', () => {
  let old: RedisServer;
  let next: RedisServer;
  let proxy: FaultyProxy;
  beforeEach(async () => {
    [old, next] = await Promise.all([startRedis(), startRedis()]);
    proxy = await startFaultyProxy(old.port);
  });
  afterEach(async () => {
    await proxy.close();
    await Promise.all([old, next].map((server) => server.remove()));
  });

  const demote = async () => {
    const admin = new Redis(old.url);
    await admin.replicaof('127.0.0.1', next.port);
    admin.disconnect();
  };

  const ioredis = (options: object) => () => {
    const client = quiet(new Redis(proxy.port, '127.0.0.1', options));
    return { client, close: async () => client.disconnect() };
  };
  const nodeRedis = () => ({
    url: `redis://127.0.0.1:${proxy.port}`,
    pingInterval: 1000,
    socket: {
      socketTimeout: 5000,
      reconnectStrategy: (retries: number) => Math.min(retries * 50, 2000),
    },
  });
  const openClient = async () => {
    const client = await quiet(createClient(nodeRedis())).connect();
    return { client, close: async () => client.destroy() };
  };
  const openPool = async () => {
    const client = quiet(createClientPool(nodeRedis(), { minimum: 3 }));
    await client.connect();
    return { client, close: async () => client.destroy() };
  };

  describe.each([
    ['ioredis', ioredis({ maxRetriesPerRequest: 1, socketTimeout: 5000 })],
    ['a plain ioredis', ioredis({})],
    ['node-redis', openClient],
    ['a pool of node-redis', openPool],
  ])('with %s', (_, open) => {
    test('is left for the new primary, as soon as the address leads there', async () => {
      const { client, close } = await open();
      try {
        const store = redisStore(client);
        const claim = () => store.claim(newDelivery(), terms());
        expect(await claim()).toMatchObject({ state: 'acquired' });
        await demote();
        await expect(claim()).rejects.toThrow(READONLY);
        // The address still leads to the old one.
        await pause(1_500);
        await expect(claim()).rejects.toThrow(READONLY);
        proxy.leadTo(next.port);
        const since = performance.now();
        await vi.waitUntil(() => claim().catch(() => undefined), {
          timeout: BACK_MS,
          interval: 200,
        });
        expect(performance.now() - since).toBeLessThan(BACK_MS);
      } finally {
        await close();
      }
    });
  });

  test('is left at most once a second, for any number of calls', async () => {
    const { client, close } = ioredis({})();
    let closed = 0;
    client.on('close', () => {
      closed += 1;
    });
    try {
      const store = redisStore(client);
      await store.claim(newDelivery(), terms());
      await demote();
      const end = performance.now() + 2_500;
      while (performance.now() < end) {
        await expect(store.claim(newDelivery(), terms())).rejects.toThrow(READONLY);
      }
      expect(closed).toBeGreaterThan(1);
      expect(closed).toBeLessThanOrEqual(3);
    } finally {
      await close();
    }
  });

  test('is kept if the client would not reconnect', async () => {
    const plain = ioredis({ retryStrategy: null })();
    const socket = { reconnectStrategy: false } as const;
    const other = await quiet(createClient({ ...nodeRedis(), socket })).connect();
    try {
      const stores = [redisStore(plain.client), redisStore(other)];
      for (const store of stores) await store.claim(newDelivery(), terms());
      await demote();
      for (const store of stores)
        await expect(store.claim(newDelivery(), terms())).rejects.toThrow(READONLY);
      await pause(500);
      expect(proxy.open).toBe(2);
    } finally {
      await plain.close();
      other.destroy();
    }
  });
});

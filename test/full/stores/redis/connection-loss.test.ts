import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { Claimable, IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Connected, quiet } from '../../../stores/redis/clients.js';
import { startCuttingProxy } from '../../../stores/redis/cutting-proxy.js';
import {
  acquire,
  LONG_AGO_MS,
  newDelivery,
  RETRY,
  terms,
} from '../../../stores/redis/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

/** Clients that reconnect at once, but do not repeat calls. */
const connect: Record<string, (url: string) => Promise<Connected>> = {
  ioredis: async (url) => {
    const options = { maxRetriesPerRequest: 0, retryStrategy: () => 1 };
    const client = quiet(new Redis(url, options));
    return { store: redisStore(client), close: async () => client.disconnect() };
  },
  'node-redis': async (url) => {
    const client = quiet(createClient({ url, socket: { reconnectStrategy: () => 1 } }));
    await client.connect();
    return { store: redisStore(client), close: async () => client.destroy() };
  },
};

withRedis('a connection that is lost during a call', () => {
  let server: RedisServer;
  let admin: Redis;
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
    proxy = await startCuttingProxy(server.port);
  });
  afterAll(async () => {
    admin.disconnect();
    await proxy.close();
    await server.remove();
  });

  describe.each(Object.entries(connect))('%s', (_, open) => {
    let connected: Connected;
    let store: IdempotencyStore;
    let delivery: Claimable;
    beforeAll(async () => {
      connected = await open(proxy.url);
      store = connected.store;
      // The first call reads the server's settings, and its answer arrives before the second one.
      await store.redrive(newDelivery().key);
      await store.redrive(newDelivery().key);
    });
    afterAll(() => connected.close());
    beforeEach(async () => {
      await admin.flushdb();
      delivery = newDelivery();
    });

    describe.each(['before', 'after'] as const)('cut %s the server has run it', (where) => {
      /** Calls, gets cut off, and calls again. */
      const askTwice = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
        proxy.cut(where);
        await expect(ask()).rejects.toThrow();
        expect(proxy.isArmed()).toBe(false);
        return ask();
      };
      const wasRun = where === 'after';

      test('claim: its owner gets a single lease', async () => {
        const lease = terms();
        const claim = await askTwice(() => store.claim(delivery, lease));
        expect(claim).toMatchObject({ state: 'acquired', attempt: 1 });
        expect(await store.claim(delivery, lease)).toEqual(claim);
        expect((await store.claim(delivery, terms())).state).toBe('busy');
      });

      test('claim of an expired lease: it counts as one crash', async () => {
        await acquire(store, delivery, { leaseMs: 0 });
        const lease = terms({ maxCrashes: 3 });
        const claim = await askTwice(() => store.claim(delivery, lease));
        expect(claim).toMatchObject({ attempt: 2 });
        if (claim.state === 'acquired') await store.renew(delivery.key, claim.fence, 0);
        expect(await acquire(store, delivery)).toMatchObject({ attempt: 3 });
      });

      test('renew', async () => {
        const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
        expect(await askTwice(() => store.renew(delivery.key, fence, 60_000))).toBe(true);
        expect((await store.claim(delivery, terms())).state).toBe('busy');
      });

      test('completeStep', async () => {
        const { fence } = await acquire(store, delivery);
        expect(await askTwice(() => store.completeStep(delivery.key, fence, 'mail', 1))).toBe(true);
        await store.release(delivery.key, fence);
        expect(await acquire(store, delivery)).toMatchObject({ steps: { mail: 1 } });
      });

      test('complete', async () => {
        const { fence } = await acquire(store, delivery);
        expect(await askTwice(() => store.complete(delivery.key, fence, 60_000))).toBe(true);
        expect((await store.claim(delivery, terms())).state).toBe('done');
      });

      test('fail: it is counted once', async () => {
        const { fence } = await acquire(store, delivery);
        const answer = await askTwice(() => store.fail(delivery.key, fence, RETRY));
        expect(answer).toBe('retry');
        const second = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
        expect(second.attempt).toBe(2);
        // The second attempt is the first crash: a failure that counted twice would offset it.
        expect(await store.claim(delivery, terms({ maxCrashes: 1 }))).toEqual({ state: 'dead' });
      });

      test('release: it gives back one attempt', async () => {
        const first = await acquire(store, delivery);
        await store.fail(delivery.key, first.fence, RETRY);
        const { fence } = await acquire(store, delivery);
        expect(await askTwice(() => store.release(delivery.key, fence))).toBe(true);
        expect((await acquire(store, delivery)).attempt).toBe(2);
      });

      test('redrive', async () => {
        const { fence } = await acquire(store, delivery);
        await store.fail(delivery.key, fence, { ...RETRY, permanent: true });
        expect(await askTwice(() => store.redrive(delivery.key))).toBe(!wasRun);
        expect(await acquire(store, delivery)).toMatchObject({ attempt: 1 });
      });

      test('purge', async () => {
        await acquire(store, delivery, { leaseMs: LONG_AGO_MS, keepMs: 0 });
        expect(await askTwice(() => store.purge(9))).toBe(1);
        expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(1);
      });

      test('list', async () => {
        await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
        expect(await askTwice(() => store.list({ state: 'stalled', limit: 9 }))).toHaveLength(1);
      });
    });
  });
});

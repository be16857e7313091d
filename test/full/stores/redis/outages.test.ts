import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { Claimable, IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SILENCE_MS } from '../../../../src/stores/guard.js';
import { quiet } from '../../../stores/redis/clients.js';
import { acquire, newDelivery, RETRY, terms } from '../../../stores/redis/deliveries.js';
import { type RedisServer, redisBinaries, startRedis, withRedis } from '../../../support/redis.js';

withRedis('an outage', () => {
  describe.each(redisBinaries)('of %s', (binary) => {
    let server: RedisServer;
    let client: Redis;
    let store: IdempotencyStore;
    let delivery: Claimable;
    beforeEach(async () => {
      server = await startRedis({ binary });
      client = quiet(new Redis(server.url, { maxRetriesPerRequest: 1, retryStrategy: () => 5 }));
      store = redisStore(client);
      delivery = newDelivery();
    });
    afterEach(async () => {
      vi.useRealTimers();
      client.disconnect();
      await server.remove();
    });

    /** Calls until the client is connected again. */
    const whenUp = <Result>(ask: () => Promise<Result>): Promise<Result> =>
      vi.waitUntil(() => ask().catch(() => undefined), { timeout: 10_000 });

    test('a server that has lost the scripts gets them again', async () => {
      const { fence } = await acquire(store, delivery);
      await client.script('FLUSH');
      expect((await store.claim(delivery, terms())).state).toBe('busy');
      await client.script('FLUSH');
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
    });

    test('calls to a server that is away reject, and work again when it is back', async () => {
      const { fence } = await acquire(store, delivery);
      await server.stop();
      await expect(store.complete(delivery.key, fence, 60_000)).rejects.toThrow();
      await expect(store.claim(newDelivery(), terms())).rejects.toThrow();
      await server.start();
      expect(await whenUp(() => store.complete(delivery.key, fence, 60_000))).toBe(true);
      expect((await store.claim(delivery, terms())).state).toBe('done');
    });

    test('a store whose first call finds the server away works when it is back', async () => {
      await server.stop();
      await expect(store.claim(delivery, terms())).rejects.toThrow();
      await server.start();
      expect((await whenUp(() => store.claim(delivery, terms()))).state).toBe('acquired');
    });

    test('node-redis reconnects as well', async () => {
      const options = { url: server.url, disableOfflineQueue: true };
      const other = quiet(createClient({ ...options, socket: { reconnectStrategy: () => 5 } }));
      await other.connect();
      try {
        store = redisStore(other);
        const { fence } = await acquire(store, delivery);
        await server.kill();
        await expect(store.complete(delivery.key, fence, 60_000)).rejects.toThrow();
        await server.start();
        expect(await whenUp(() => store.complete(delivery.key, fence, 60_000))).toBe(true);
      } finally {
        other.destroy();
      }
    });

    test('a client that does not reconnect keeps its connection to a server that pauses', async () => {
      const other = quiet(new Redis(server.url, { retryStrategy: null }));
      try {
        store = redisStore(other);
        const redrive = () => store.redrive(delivery.key);
        await redrive();
        await client.client('PAUSE', 60_000, 'WRITE');
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        const waiting = redrive();
        await vi.advanceTimersByTimeAsync(SILENCE_MS);
        vi.useRealTimers();
        const answers = expect(Promise.all([waiting, redrive()])).resolves.toEqual([false, false]);
        await client.client('UNPAUSE');
        await answers;
      } finally {
        other.disconnect();
      }
    });

    test('a server that is killed under load loses nothing that it has answered', async () => {
      const leased: { delivery: Claimable; owner: string; fence: number }[] = [];
      const done: Claimable[] = [];
      let isRunning = true;
      const work = async () => {
        while (isRunning) {
          const one = newDelivery();
          const lease = terms();
          try {
            const { fence } = await acquire(store, one, lease);
            if (leased.length > done.length) {
              await store.complete(one.key, fence, 600_000);
              done.push(one);
            } else {
              leased.push({ delivery: one, owner: lease.owner, fence });
            }
          } catch {
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        }
      };
      const workers = Array.from({ length: 8 }, work);
      for (const goal of [40, 80, 120]) {
        await vi.waitUntil(() => done.length >= goal, { timeout: 10_000 });
        await server.kill();
        await server.start();
      }
      await vi.waitUntil(() => done.length >= 160, { timeout: 10_000 });
      isRunning = false;
      await Promise.all(workers);

      for (const one of done) expect((await store.claim(one, terms())).state).toBe('done');
      for (const { delivery: one, owner, fence } of leased) {
        expect((await store.claim(one, terms())).state).toBe('busy');
        expect(await store.claim(one, terms({ owner }))).toMatchObject({ fence, attempt: 1 });
      }
    });

    test('after a server was wiped, every lease is lost', async () => {
      const { fence } = await acquire(store, delivery);
      await client.flushall();
      expect(await store.renew(delivery.key, fence, 60_000)).toBe(false);
      expect(await store.completeStep(delivery.key, fence, 'mail', 1)).toBe(false);
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(false);
      expect(await store.fail(delivery.key, fence, RETRY)).toBe('lost');
      expect(await store.release(delivery.key, fence)).toBe(false);
      expect(await client.dbsize()).toBe(0);
      expect(await acquire(store, delivery)).toMatchObject({ attempt: 1 });
    });

    test('a full server accepts nothing new, but running deliveries can finish', async () => {
      const others = [newDelivery(), newDelivery(), newDelivery()] as const;
      const [failing, failed, dead] = others;
      const { fence } = await acquire(store, delivery);
      const fences = await Promise.all(others.map((one) => acquire(store, one)));
      await store.fail(failed.key, fences[1]?.fence ?? 0, RETRY);
      const size = await client.dbsize();

      await client.config('SET', 'maxmemory', '1');
      const fresh = newDelivery();
      await expect(store.claim(fresh, terms())).rejects.toThrow(/^OOM/);
      await expect(store.claim(failed, terms())).rejects.toThrow(/^OOM/);
      expect(await client.dbsize()).toBe(size);
      expect(await store.renew(delivery.key, fence, 60_000)).toBe(true);
      expect(await store.completeStep(delivery.key, fence, 'mail', 1)).toBe(true);
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
      expect((await store.claim(delivery, terms())).state).toBe('done');
      expect(await store.fail(failing.key, fences[0]?.fence ?? 0, RETRY)).toBe('retry');
      const permanent = { ...RETRY, permanent: true };
      expect(await store.fail(dead.key, fences[2]?.fence ?? 0, permanent)).toBe('dead');
      expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(1);
      expect(await store.redrive(dead.key)).toBe(true);

      await client.config('SET', 'maxmemory', '0');
      expect(await acquire(store, fresh)).toMatchObject({ attempt: 1 });
      expect(await acquire(store, failed)).toMatchObject({ attempt: 2 });
    });
  });
});

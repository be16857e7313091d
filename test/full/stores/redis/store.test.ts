import { Redis } from 'ioredis';
import type { IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import {
  acquire,
  LONG_AGO_MS,
  newDelivery,
  RETRY,
  terms,
} from '../../../stores/redis/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEAD = { ...RETRY, permanent: true };

withRedis('the Redis store', () => {
  let server: RedisServer;
  let client: Redis;
  let store: IdempotencyStore;
  beforeAll(async () => {
    server = await startRedis();
    client = quiet(new Redis(server.url));
    store = redisStore(client);
  });
  afterAll(async () => {
    client.disconnect();
    await server.remove();
  });
  beforeEach(() => client.flushdb());

  describe('uses the clock of the server', () => {
    afterEach(() => {
      vi.useRealTimers();
    });

    test.each([DAY_MS, -DAY_MS])('if its own is off by %i ms', async (offMs) => {
      const delivery = newDelivery();
      const late = newDelivery();
      await acquire(store, delivery);
      await acquire(store, late, { leaseMs: -10_000 });
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offMs });

      const other = await store.claim(delivery, terms());
      expect(other.state === 'busy' && other.retryAfterMs).toBeGreaterThan(50_000);
      expect(other.state === 'busy' && other.retryAfterMs).toBeLessThanOrEqual(60_000);
      const { fence } = await acquire(store, late);
      const [seconds] = await client.time();
      expect(Math.abs(fence / 1000 - Number(seconds))).toBeLessThan(5);
      expect(await store.list({ state: 'stalled', limit: 9 })).toEqual([]);
      expect(await store.purge(9)).toBe(0);
    });
  });

  test('sends the claims of one turn as one script, and their completions as well', async () => {
    const deliveries = Array.from({ length: 50 }, newDelivery);
    const sent = vi.spyOn(client, 'evalsha');
    try {
      const held = await Promise.all(deliveries.map((delivery) => acquire(store, delivery)));
      expect(sent).toHaveBeenCalledTimes(1);
      const ends = held.map(({ fence }, index) =>
        store.complete(deliveries[index]?.key ?? '', fence, 60_000),
      );
      expect(await Promise.all(ends)).toEqual(ends.map(() => true));
      expect(sent).toHaveBeenCalledTimes(2);
    } finally {
      sent.mockRestore();
    }
  });

  test('increases its fences even if the clock of the server is set back', async () => {
    const delivery = newDelivery();
    await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
    const future = Date.now() + DAY_MS;
    await client.hset(`wh:{${delivery.key.slice(0, 2)}}:${delivery.key}`, 'f', future);
    const second = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
    expect(second.fence).toBe(future + 1);
    await store.redrive(delivery.key);
    expect((await acquire(store, delivery)).fence).toBe(future + 3);
  });

  test('rejects a completion after another process has completed the delivery', async () => {
    const delivery = newDelivery();
    const first = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
    const second = await acquire(store, delivery);
    expect(await store.complete(delivery.key, second.fence, 60_000)).toBe(true);
    expect(await store.complete(delivery.key, first.fence, 0)).toBe(false);
    expect(await store.claim(delivery, terms())).toEqual({ state: 'done' });
  });

  describe('lists', () => {
    test('all shards in the order of their keys, one page at a time', async () => {
      const keys: string[] = [];
      for (let count = 0; count < 40; count++) {
        const delivery = newDelivery();
        keys.push(delivery.key);
        await store.fail(delivery.key, (await acquire(store, delivery)).fence, DEAD);
      }
      const pages: string[][] = [];
      for (let after: string | undefined; pages.length < 10; after = pages.at(-1)?.at(-1)) {
        const page = await store.list({ state: 'dead', limit: 7, after });
        if (page.length === 0) break;
        pages.push(page.map(({ key }) => key));
      }
      expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 7, 7, 5]);
      expect(pages.flat()).toEqual(keys.sort());
      expect(await store.list({ state: 'dead', limit: Infinity })).toHaveLength(40);
      expect(await store.list({ state: 'dead', limit: 9, after: 'f'.repeat(64) })).toEqual([]);
      expect(await store.list({ state: 'dead', limit: 0 })).toEqual([]);
    });

    test('the deliveries of a single shard as well', async () => {
      const stalled = Array.from({ length: 9 }, () => {
        const delivery = newDelivery();
        return { ...delivery, key: `ab${delivery.key.slice(2)}` };
      });
      for (const one of stalled) await acquire(store, one, { leaseMs: LONG_AGO_MS });
      const keys = stalled.map(({ key }) => key).sort();
      const page = (after: string | undefined) => store.list({ state: 'stalled', limit: 4, after });
      expect((await page(undefined)).map(({ key }) => key)).toEqual(keys.slice(0, 4));
      expect((await page(keys[3])).map(({ key }) => key)).toEqual(keys.slice(4, 8));
      expect((await page(keys[7])).map(({ key }) => key)).toEqual(keys.slice(8));
    });

    test.each(['dead', 'stalled'] as const)(
      'no %s delivery that the server has evicted',
      async (state) => {
        const deliveries = [newDelivery(), newDelivery(), newDelivery()];
        for (const one of deliveries) {
          const { fence } = await acquire(store, one, { leaseMs: LONG_AGO_MS });
          if (state === 'dead') await store.fail(one.key, fence, DEAD);
        }
        const [gone, ...rest] = deliveries.map(({ key }) => key).sort();
        await client.del(`wh:{${gone?.slice(0, 2)}}:${gone}`);
        const page = await store.list({ state, limit: 2 });
        expect(page.map(({ key }) => key)).toEqual(rest);
        const indexes = await client.keys('wh:*:*');
        expect(indexes.filter((index) => index.startsWith(`wh:{${gone?.slice(0, 2)}}`))).toEqual(
          [],
        );
      },
    );

    test('an empty body', async () => {
      const delivery = { ...newDelivery(), body: new Uint8Array(0) };
      await store.fail(delivery.key, (await acquire(store, delivery)).fence, DEAD);
      const [dead] = await store.list({ state: 'dead', limit: 9 });
      expect(dead?.body).toEqual(new Uint8Array(0));
    });
  });

  describe('counts', () => {
    const scripts = async () => {
      const stats = await client.info('commandstats');
      const calls = (name: string) =>
        Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(stats)?.[1]);
      return { reads: calls('hmget'), scripts: calls('evalsha') };
    };

    test('the failing deliveries, and reads at most 2,000 in a call', async () => {
      const dueAt = Date.now() + 60_000;
      const entries = Array.from({ length: 6_000 }, (_, at) => [dueAt, `${at}`]).flat();
      for (const shard of ['00', '01']) await client.zadd(`wh:{${shard}}:open`, ...entries);
      await store.count({ state: 'failing' });
      await client.config('RESETSTAT');
      expect(await store.count({ state: 'failing' })).toBe(0);
      expect(await scripts()).toEqual({ reads: 12_000, scripts: 7 });
    });

    test.each(['dead', 'failing'] as const)(
      'the %s deliveries of a scope beside more than 10,000 of another one',
      async (state) => {
        const dueAt = Date.now() + 600_000;
        const index = state === 'dead' ? 'dead' : 'open';
        for (const shard of ['00', '01', 'ff']) {
          const filling = client.pipeline();
          for (let at = 0; at < 6_000; at++) {
            const scope = at % 60 === 0 ? 'small' : 'big';
            const d = JSON.stringify([scope, 'whl_1', 'order:paid', 0]);
            filling.hset(`wh:{${shard}}:${at}`, { s: 'retry', a: 2, x: 1, n: dueAt, d });
            filling.zadd(`wh:{${shard}}:${index}`, dueAt + at, `${at}`);
          }
          await filling.exec();
        }
        expect(await store.count({ state, scope: 'small' })).toBe(300);
        expect(await store.count({ state, scope: 'big' })).toBe(10_000);
        expect(await store.count({ state, scope: 'other' })).toBe(0);
      },
    );
  });

  describe('purges', () => {
    test('due deliveries, even if more are old and still running', async () => {
      for (let count = 0; count < 6; count++) await acquire(store, newDelivery(), { keepMs: 0 });
      for (let count = 0; count < 3; count++) {
        await acquire(store, newDelivery(), { keepMs: 0, leaseMs: LONG_AGO_MS });
      }
      expect(await store.purge(2)).toBe(2);
      expect(await store.purge(2)).toBe(1);
      expect(await store.purge(2)).toBe(0);
      expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(3);
    });

    test('dead deliveries after their time, with all of their data', async () => {
      const delivery = newDelivery();
      await store.fail(delivery.key, (await acquire(store, delivery)).fence, DEAD);
      const shard = `wh:{${delivery.key.slice(0, 2)}}`;
      const keptUntil = await client.zscore(`${shard}:dead`, delivery.key);
      expect(Number(keptUntil)).toBeGreaterThan(Date.now() + 29 * DAY_MS);
      // Thirty days later.
      await client.hset(`${shard}:${delivery.key}`, 'p', 1);
      await client.zadd(`${shard}:dead`, 1, delivery.key);
      expect(await store.purge(9)).toBe(1);
      expect(await client.dbsize()).toBe(0);
    });

    test('deliveries that an earlier purge has found stalled, after their time', async () => {
      const delivery = newDelivery();
      await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
      const stalled = () => store.list({ state: 'stalled', limit: 9 });
      expect(await store.purge(1)).toBe(0);
      expect(await stalled()).toHaveLength(1);
      const shard = `wh:{${delivery.key.slice(0, 2)}}`;
      const seen = Number(await client.zscore(`${shard}:open`, delivery.key));
      // Ten minutes later.
      await client.hincrby(`${shard}:${delivery.key}`, 'p', -600_000);
      await client.zadd(`${shard}:open`, seen - 600_000, delivery.key);
      expect(await store.purge(1)).toBe(1);
      expect(await stalled()).toEqual([]);
      expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(1);
    });

    test('no delivery that was claimed again after it was seen stalled', async () => {
      const delivery = newDelivery();
      await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
      expect(await store.purge(9)).toBe(0);
      await acquire(store, delivery);
      expect(await store.list({ state: 'stalled', limit: 9 })).toEqual([]);
      expect(await store.purge(9)).toBe(0);
      expect((await store.claim(delivery, terms())).state).toBe('busy');
    });

    test('without an endless loop if its indexes are wrong', async () => {
      const [open, dead] = [newDelivery(), newDelivery()];
      await acquire(store, open);
      await store.fail(dead.key, (await acquire(store, dead)).fence, DEAD);
      for (const { key } of [open, dead]) {
        for (const index of ['open', 'dead'])
          await client.zadd(`wh:{${key.slice(0, 2)}}:${index}`, 1, key);
      }
      expect(await store.purge(1)).toBe(0);
      expect((await store.list({ state: 'dead', limit: 9 })).map(({ key }) => key)).toEqual([
        dead.key,
      ]);
      expect((await store.claim(open, terms())).state).toBe('busy');
    });

    test('no delivery that is kept forever', async () => {
      const delivery = newDelivery();
      const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS, keepMs: Infinity });
      expect(await store.purge(9)).toBe(0);
      await store.fail(delivery.key, fence, DEAD);
      expect(await store.purge(9)).toBe(0);
      expect(await store.list({ state: 'dead', limit: 9 })).toHaveLength(1);
    });
  });

  describe('lets the server expire', () => {
    const ttlOf = (key: string) => client.pttl(`wh:{${key.slice(0, 2)}}:${key}`);

    test('done deliveries only', async () => {
      const [done, forEver, open] = [newDelivery(), newDelivery(), newDelivery()];
      await store.complete(done.key, (await acquire(store, done)).fence, 50_000);
      await store.complete(forEver.key, (await acquire(store, forEver)).fence, Infinity);
      await acquire(store, open);
      expect(await ttlOf(done.key)).toBeGreaterThan(40_000);
      expect(await ttlOf(forEver.key)).toBe(-1);
      expect(await ttlOf(open.key)).toBe(-1);
      expect(await client.keys('*:open')).toEqual([`wh:{${open.key.slice(0, 2)}}:open`]);
    });

    test('a dead effect, which is in no list, until its redrive', async () => {
      const effect = { ...newDelivery(), body: undefined };
      await store.fail(effect.key, (await acquire(store, effect)).fence, DEAD);
      expect(await ttlOf(effect.key)).toBeGreaterThan(29 * DAY_MS);
      expect(await store.redrive(effect.key)).toBe(true);
      expect(await ttlOf(effect.key)).toBe(-1);
      expect(await client.dbsize()).toBe(1);
    });
  });

  describe('after the clock was set back by an hour', () => {
    async function setBack(key: string): Promise<void> {
      const [hash, open] = [`wh:{${key.slice(0, 2)}}:${key}`, `wh:{${key.slice(0, 2)}}:open`];
      for (const field of ['f', 'n']) await client.hincrby(hash, field, 3_600_000);
      await client.zincrby(open, 3_600_000, key);
    }

    test('a failed delivery is due at once', async () => {
      const delivery = newDelivery();
      const { fence } = await acquire(store, delivery);
      await store.fail(delivery.key, fence, { permanent: false, error: 'it threw' });
      await setBack(delivery.key);
      expect(await acquire(store, delivery)).toMatchObject({ attempt: 2 });
    });

    test('a lease ends no later than one that is taken now', async () => {
      const delivery = newDelivery();
      const { fence } = await acquire(store, delivery);
      await setBack(delivery.key);
      const claim = await store.claim(delivery, terms({ leaseMs: 5_000 }));
      expect(claim).toMatchObject({ state: 'busy' });
      expect(claim.state === 'busy' && claim.retryAfterMs).toBeLessThanOrEqual(5_000);
      await store.claim(delivery, terms({ leaseMs: -1 }));
      const next = await acquire(store, delivery);
      expect(next.fence).toBeGreaterThan(fence + 3_600_000);
    });
  });

  test('distinguishes names that differ only in lone surrogates', async () => {
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    await store.completeStep(delivery.key, fence, 'a\ud800', 1);
    await store.completeStep(delivery.key, fence, 'a\ud801', [2, 'b\udfff"\u0000']);
    await store.release(delivery.key, fence);
    const { steps } = await acquire(store, delivery);
    expect(steps).toEqual({ 'a\ud800': 1, 'a\ud801': [2, 'b\udfff"\u0000'] });
  });

  test('keeps at most 2,000 characters of an error', async () => {
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    await store.fail(delivery.key, fence, { ...DEAD, error: 'é'.repeat(9_000) });
    expect(await store.list({ state: 'dead' })).toMatchObject([{ error: 'é'.repeat(2_000) }]);
  });

  test('keeps at most 250 bytes of a done delivery', async () => {
    const used = async () => Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
    const complete = async () => {
      const delivery = newDelivery();
      await store.complete(delivery.key, (await acquire(store, delivery)).fence, 30 * DAY_MS);
    };
    const completeMany = async (count: number) => {
      for (let done = 0; done < count; done += 500) {
        await Promise.all(Array.from({ length: 500 }, complete));
      }
    };
    await completeMany(500);
    const before = await used();
    await completeMany(10_000);
    expect((await used()) - before).toBeLessThan(250 * 10_000);
  });
});

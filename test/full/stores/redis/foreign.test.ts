import { Redis } from 'ioredis';
import type { IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { acquire, LONG_AGO_MS, newDelivery, RETRY } from '../../../stores/redis/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('records in Redis that another program has written', () => {
  let server: RedisServer;
  let client: Redis;
  let store: IdempotencyStore;
  let lines: string[];
  beforeAll(async () => {
    server = await startRedis({ args: ['--appendonly', 'yes'] });
    client = quiet(new Redis(server.url));
    store = redisStore(client);
  });
  afterAll(async () => {
    client.disconnect();
    await server.remove();
  });
  beforeEach(async () => {
    lines = [];
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
    await client.flushdb();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Three deliveries of one shard, in the order of their keys. */
  async function three(state: 'dead' | 'stalled'): Promise<[string, string, string]> {
    const keys = ['a', 'b', 'c'].map((digit) => `00${digit.repeat(62)}`);
    for (const key of keys) {
      const { fence } = await acquire(
        store,
        { ...newDelivery(), key },
        { leaseMs: LONG_AGO_MS, keepMs: 0 },
      );
      if (state === 'dead') await store.fail(key, fence, { ...RETRY, permanent: true });
    }
    return keys as [string, string, string];
  }
  const listed = async (limit = 9) =>
    (await store.list({ state: 'dead', limit })).map(({ key }) => key);

  test.each([
    ['invalid JSON as the description', ['d', 'rubbish']],
    ['other JSON as the description', ['d', '{"scope":"shop"}']],
    ['values other than text in the description', ['d', '[1,2,3,4]']],
    ['an invalid number of attempts', ['a', 'many']],
    ['an invalid due time', ['n', 'soon']],
    ['an error that is not JSON', ['e', 'it threw']],
  ])('do not hide other dead letters (%s), and are logged in one line', async (_, change) => {
    const [first, second, third] = await three('dead');
    await client.hset(`wh:{00}:${first}`, ...change);
    await client.hset(`wh:{00}:${second}`, ...change);
    expect(await listed()).toEqual([third]);
    expect(await listed(1)).toEqual([third]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^storefront-webhooks: 2 of the Redis keys .* repair or delete it\. See node_modules\/storefront-webhooks\/docs\/operate\.md#redis-unreadable$/,
    );
    expect(lines[0]).toContain(`wh:{00}:${first}`);
  });

  test.each(['s', 'a', 'n', 'd'])(
    'do not hide other dead letters if the field %s is missing',
    async (field) => {
      const [first, second, third] = await three('dead');
      await client.hdel(`wh:{00}:${first}`, field);
      expect(await listed()).toEqual([second, third]);
      // The unreadable records stay in Redis, and a further list logs them again.
      expect(await listed()).toEqual([second, third]);
      expect(lines).toHaveLength(2);
      expect(lines[0]).toContain(`wh:{00}:${first}`);
    },
  );

  test.each(['zz', '', 'ffff', 'rubbish,;more', 'f'.repeat(64), `zz${'a'.repeat(62)}`])(
    'do not hide a dead letter if an index has %j, and are logged in one line',
    async (member) => {
      const [first, second, third] = await three('dead');
      await client.zadd('wh:{00}:dead', -1, member);
      await client.zadd('wh:{00}:dead', -1, `${member} again`);
      expect(await listed()).toEqual([first, second, third]);
      expect(lines).toEqual([expect.stringContaining('wh:{00}:dead')]);
      expect(await listed(2)).toEqual([first, second]);
    },
  );

  test('are not logged if all keys are readable', async () => {
    await three('dead');
    expect(await listed()).toHaveLength(3);
    expect(lines).toEqual([]);
  });

  test('do not prevent a purge, or make it endless', async () => {
    const [first] = await three('stalled');
    await client.hset(`wh:{00}:${first}`, 'p', 'never');
    await client.zadd('wh:{00}:open', -1e13, 'rubbish');
    expect(await store.purge(1)).toBeLessThan(2);
    expect(await store.purge(9)).toBeLessThanOrEqual(2);
    expect(await listed()).toHaveLength(2);
  });

  test('end the search of an index if it yields nothing new', async () => {
    const [first] = await three('dead');
    await client.hset(`wh:{00}:${first}`, 'd', 'rubbish');
    const sent = vi.spyOn(client, 'evalsha');
    try {
      expect(await store.list({ state: 'dead', limit: Number.NaN })).toEqual([]);
      expect(await store.purge(Number.NaN)).toBe(0);
      expect(sent).not.toHaveBeenCalled();
    } finally {
      sent.mockRestore();
    }
  });
});

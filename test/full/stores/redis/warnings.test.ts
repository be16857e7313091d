import { Redis } from 'ioredis';
import { redisStore } from 'storefront-webhooks/redis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { acquire, newDelivery } from '../../../stores/redis/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('the Redis store logs about its server', () => {
  let server: RedisServer | undefined;
  let client: Redis | undefined;
  let lines: string[];
  beforeEach(() => {
    lines = [];
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    client?.disconnect();
    await server?.remove();
  });

  /** Returns the lines that are written after a few calls, which follow the check. */
  async function linesOf(args: string[], options: { username?: string; password?: string } = {}) {
    server = await startRedis({ args });
    client = quiet(new Redis(server.url, options));
    const store = redisStore(client);
    await Promise.all([acquire(store, newDelivery()), acquire(store, newDelivery())]);
    // The answers come in the order of the calls, including the one to the check.
    await store.redrive(newDelivery().key);
    await store.purge(1);
    return lines;
  }

  test('nothing, if the server evicts nothing and writes to its disk', async () => {
    expect(await linesOf(['--maxmemory', '100mb', '--maxmemory-policy', 'noeviction'])).toEqual([]);
    lines = [];
  });

  test('nothing, if the server has an eviction policy but no limit', async () => {
    expect(await linesOf(['--maxmemory-policy', 'allkeys-lru'])).toEqual([]);
  });

  test('one line, if the server may evict deliveries', async () => {
    expect(await linesOf(['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'])).toEqual([
      'storefront-webhooks: Redis may evict deliveries (its maxmemory-policy is allkeys-lru), and ' +
        'then one can be handled twice. Set maxmemory-policy noeviction. See node_modules/storefront-webhooks/docs/operate.md#redis-evicts',
    ]);
  });

  test('one line, if the server does not write to its disk', async () => {
    const [line, ...more] = await linesOf(['--appendonly', 'no']);
    expect(line).toMatch(
      /keeps no append-only file.*forgets deliveries.*Set appendonly yes\. See node_modules\/storefront-webhooks\/docs\/operate\.md#redis-forgets$/,
    );
    expect(more).toEqual([]);
  });

  test('nothing, if the store may not check', async () => {
    const acl = ['--user', 'shop', 'on', '>pass', '~*', '+@all', '-info'];
    const options = { username: 'shop', password: 'pass' };
    expect(await linesOf(['--appendonly', 'no', ...acl], options)).toEqual([]);
  });
});

import { Redis } from 'ioredis';
import { redisStore } from 'storefront-webhooks/redis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { acquire, newDelivery } from '../../../stores/redis/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('what the store says of the server', () => {
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

  /** What is written by the time that some verbs were asked, each of which comes after the look. */
  async function linesOf(args: string[], options: { username?: string; password?: string } = {}) {
    server = await startRedis({ args });
    client = quiet(new Redis(server.url, options));
    const store = redisStore(client);
    await Promise.all([acquire(store, newDelivery()), acquire(store, newDelivery())]);
    // Their answers come in the order of the calls, the one to the look among them.
    await store.redrive(newDelivery().key);
    await store.purge(1);
    return lines;
  }

  test('nothing, where it evicts nothing and writes to its disk', async () => {
    expect(await linesOf(['--maxmemory', '100mb', '--maxmemory-policy', 'noeviction'])).toEqual([]);
    lines = [];
  });

  test('nothing of a policy without a limit', async () => {
    expect(await linesOf(['--maxmemory-policy', 'allkeys-lru'])).toEqual([]);
  });

  test('once, that it evicts', async () => {
    expect(await linesOf(['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'])).toEqual([
      'storefront-webhooks: Redis may evict deliveries (its maxmemory-policy is allkeys-lru), and ' +
        'then one can be handled twice. Set maxmemory-policy noeviction. See node_modules/storefront-webhooks/docs/operate.md#redis-evicts',
    ]);
  });

  test('once, that it writes nothing to its disk', async () => {
    const [line, ...more] = await linesOf(['--appendonly', 'no']);
    expect(line).toMatch(
      /keeps no append-only file.*forgets deliveries.*Set appendonly yes\. See node_modules\/storefront-webhooks\/docs\/operate\.md#redis-forgets$/,
    );
    expect(more).toEqual([]);
  });

  test('nothing, where it may not ask', async () => {
    const acl = ['--user', 'shop', 'on', '>pass', '~*', '+@all', '-info'];
    const options = { username: 'shop', password: 'pass' };
    expect(await linesOf(['--appendonly', 'no', ...acl], options)).toEqual([]);
  });
});

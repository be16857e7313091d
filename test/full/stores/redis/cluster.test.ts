import { Cluster, Redis } from 'ioredis';
import redis, { createCluster } from 'redis';
import type { IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OpenStore, openNodeRedis, openStore } from '../../../../src/cli/dead/open-store.js';
import { startCluster } from '../../../stores/redis/clustered.js';
import { ageDelivery } from '../../../stores/redis/deliveries.js';
import { describeStore } from '../../../stores/suite.js';
import { type RedisServer, withRedis } from '../../../support/redis.js';
import { casesOf } from '../../../support/tier.js';

withRedis('on a cluster of three', () => {
  let servers: RedisServer[] = [];
  let admins: Redis[] = [];
  beforeAll(async () => {
    servers = await startCluster();
    admins = servers.map(({ url }) => new Redis(url));
  });
  afterAll(async () => {
    for (const admin of admins) admin.disconnect();
    await Promise.all(servers.map((server) => server.remove()));
  });

  const connect: Record<string, () => Promise<{ store: IdempotencyStore; close(): unknown }>> = {
    'ioredis, Cluster': async () => {
      const client = new Cluster(servers.map(({ port }) => ({ host: '127.0.0.1', port })));
      return { store: redisStore(client), close: () => client.disconnect() };
    },
    'node-redis, createCluster': async () => {
      const client = createCluster({ rootNodes: servers.map(({ url }) => ({ url })) });
      client.on('error', () => {});
      await client.connect();
      return { store: redisStore(client), close: () => client.destroy() };
    },
  };

  describe.each(casesOf(Object.entries(connect), ([name]) => name.startsWith('ioredis')))(
    '%s',
    (name, open) => {
      let opened: Awaited<ReturnType<typeof open>>;
      beforeAll(async () => {
        opened = await open();
      });
      afterAll(() => opened.close());

      const make = async () => {
        await Promise.all(admins.map((admin) => admin.flushall()));
        return opened.store;
      };
      const age = async (key: string) => {
        for (const admin of admins) {
          const [delivery] = await admin.keys(`*:${key}`);
          if (delivery) await ageDelivery(admin, delivery, key);
        }
      };
      describeStore(`Redis (${name})`, make, { expires: true, age });
    },
  );

  test('scripts are not in the automatic pipelines of ioredis, which would reject them', async () => {
    const nodes = servers.map(({ port }) => ({ host: '127.0.0.1', port }));
    const client = new Cluster(nodes, {
      enableAutoPipelining: true,
      autoPipeliningIgnoredCommands: ['get'],
    });
    try {
      await client.ping();
      const store = redisStore(client);
      expect(client.options.autoPipeliningIgnoredCommands).toEqual(['get', 'eval', 'evalsha']);
      expect(await store.list({ state: 'dead', scope: 'of no shop' })).toEqual([]);
      expect(await store.count({ state: 'dead', scope: 'of no shop' })).toBe(0);
    } finally {
      client.disconnect();
    }
  });

  test.each<[string, (url: string) => Promise<OpenStore>]>([
    ['ioredis', (url) => openStore(url)],
    ['node-redis', (url) => openNodeRedis(redis, url)],
  ])('commands with %s say that they do not open a cluster', async (_, open) => {
    const { store, close } = await open(servers[0]?.url ?? '');
    await expect(store.count({ state: 'dead' })).rejects.toThrow(/cluster.* Use a program instead/);
    await close();
  });

  test.each([
    [
      'reported',
      {},
      [expect.stringMatching(/pingInterval.*createCluster\(\{ rootNodes, defaults:/)],
    ],
    [
      'not reported',
      { pingInterval: 1000, socket: { socketTimeout: 5000, reconnectStrategy: 100 } },
      [],
    ],
  ])('the missing limits of a connected node-redis are %s', async (_, defaults, expected) => {
    const lines: string[] = [];
    vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
    vi.resetModules();
    const client = createCluster({ rootNodes: servers.map(({ url }) => ({ url })), defaults });
    client.on('error', () => {});
    await client.connect();
    (await import('storefront-webhooks/redis')).redisStore(client);
    client.destroy();
    vi.restoreAllMocks();
    expect(lines).toEqual(expected);
  });
});

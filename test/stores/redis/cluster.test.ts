import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import type { IdempotencyStore } from 'storefront-webhooks';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { type RedisServer, startRedis, withRedis } from '../../support/redis.js';
import { describeStore } from '../suite.js';

const SLOTS = 16_384;
const NODES = 3;

withRedis('on a cluster of three', () => {
  let servers: RedisServer[] = [];
  let admins: Redis[] = [];
  beforeAll(async () => {
    const args = ['--cluster-enabled', 'yes'];
    servers = await Promise.all(Array.from({ length: NODES }, () => startRedis({ args })));
    admins = servers.map(({ url }) => new Redis(url));
    await joinCluster(servers, admins);
  }, 60_000);
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

  describe.each(Object.entries(connect))('%s', (name, open) => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    const make = async () => {
      await Promise.all(admins.map((admin) => admin.flushall()));
      return opened.store;
    };
    describeStore(`Redis (${name})`, make, { expires: true });
  });
});

/** Shares the slots out, introduces the nodes to one another, and waits until all agree. */
async function joinCluster(servers: RedisServer[], admins: Redis[]): Promise<void> {
  for (const [node, admin] of admins.entries()) {
    const first = Math.floor((node * SLOTS) / NODES);
    const last = Math.floor(((node + 1) * SLOTS) / NODES) - 1;
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
    // Else two that elect the same epoch take their time to agree.
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(node + 1));
  }
  for (const { port } of servers.slice(1)) {
    await admins[0]?.call('CLUSTER', 'MEET', '127.0.0.1', String(port));
  }
  await vi.waitUntil(
    async () => {
      const infos = await Promise.all(admins.map((admin) => admin.call('CLUSTER', 'INFO')));
      return infos.every(
        (info) =>
          String(info).includes('cluster_state:ok') &&
          String(info).includes(`cluster_known_nodes:${NODES}`),
      );
    },
    { timeout: 50_000, interval: 50 },
  );
}

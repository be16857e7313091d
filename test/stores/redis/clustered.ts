import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { type RedisServer, startRedis } from '../../support/redis.js';

const SLOTS = 16_384;
const NODES = 3;

/** Starts three servers that share the keys. */
export async function startCluster(): Promise<RedisServer[]> {
  const args = ['--cluster-enabled', 'yes'];
  const servers = await Promise.all(Array.from({ length: NODES }, () => startRedis({ args })));
  const admins = servers.map(({ url }) => new Redis(url));
  await joinCluster(servers, admins);
  for (const admin of admins) admin.disconnect();
  return servers;
}

/** Assigns the slots, introduces the nodes to one another, and waits until all agree. */
async function joinCluster(servers: RedisServer[], admins: Redis[]): Promise<void> {
  for (const [node, admin] of admins.entries()) {
    const first = Math.floor((node * SLOTS) / NODES);
    const last = Math.floor(((node + 1) * SLOTS) / NODES) - 1;
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
    // Otherwise two nodes may choose the same epoch, and take long to agree.
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
    { interval: 50 },
  );
}

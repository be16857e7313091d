import { setTimeout as pause } from 'node:timers/promises';
import { Redis as Upstash } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import { createClient, createClientPool, createCluster } from 'redis';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quiet } from '../../../stores/redis/clients.js';
import { startCluster } from '../../../stores/redis/clustered.js';
import { startBridge } from '../../../stores/redis/upstash-bridge.js';
import { describeSilence } from '../../../stores/silent.js';
import { startFaultyProxy } from '../../../support/faulty-proxy.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

const HOST = '127.0.0.1';
const KEY = 'ab'.repeat(32);

withRedis('on silent connections to Redis', () => {
  let server: RedisServer;
  let cluster: RedisServer[] = [];
  let bridge: Awaited<ReturnType<typeof startBridge>>;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis(), startCluster()]);
    bridge = await startBridge(server.url);
  });
  afterAll(async () => {
    await bridge.close();
    await Promise.all([server, ...cluster].map((one) => one.remove()));
  });

  const ports = () => [server.port];
  const urlOf = (port = 0) => `redis://${HOST}:${port}`;

  const ioredis = (options: object) => async (listening: readonly number[]) => {
    const [port = 0] = listening;
    const client = quiet(new Redis(port, HOST, { maxRetriesPerRequest: 1, ...options }));
    return {
      store: redisStore(client),
      connections: 1,
      calls: 4,
      close: () => client.disconnect(),
    };
  };
  const LIMITS = { connectTimeout: 5000, socketTimeout: 5000 };

  const nodeRedis = (port: number | undefined) => ({
    url: urlOf(port),
    pingInterval: 1000,
    socket: {
      socketTimeout: 5000,
      reconnectStrategy: (retries: number) => Math.min(retries * 50, 2000),
    },
  });

  const clusterPorts = () => cluster.map(({ port }) => port);
  /** Maps the nodes to their proxies for a client of the cluster. */
  const proxied = (listening: readonly number[]) =>
    Object.fromEntries(
      clusterPorts().map((port, at) => [
        `${HOST}:${port}`,
        { host: HOST, port: listening[at] ?? 0 },
      ]),
    );
  const ioredisCluster = (redisOptions: object) => async (listening: readonly number[]) => {
    const nodes = listening.map((port) => ({ host: HOST, port }));
    const client = quiet(new Cluster(nodes, { natMap: proxied(listening), redisOptions }));
    return {
      store: redisStore(client),
      connections: 3,
      calls: 48,
      close: () => client.disconnect(),
    };
  };

  describeSilence({
    'a plain Cluster of ioredis': {
      ports: clusterPorts,
      silent: 1,
      isLimited: true,
      open: ioredisCluster({}),
    },
    'a Cluster of ioredis with limits': {
      ports: clusterPorts,
      silent: 1,
      isLimited: true,
      open: ioredisCluster(LIMITS),
    },
    'a cluster of node-redis with limits': {
      ports: clusterPorts,
      silent: 1,
      isLimited: true,
      open: async (listening) => {
        const { pingInterval, socket } = nodeRedis(0);
        const client = quiet(
          createCluster({
            rootNodes: listening.map((port) => ({ url: urlOf(port) })),
            nodeAddressMap: proxied(listening),
            defaults: { pingInterval, socket },
          }),
        );
        await client.connect();
        return {
          store: redisStore(client),
          connections: 3,
          calls: 48,
          close: () => client.destroy(),
        };
      },
    },
    'a plain ioredis': { ports, isLimited: true, open: ioredis({}) },
    'ioredis with a limit for each call': {
      ports,
      isLimited: true,
      open: ioredis({ commandTimeout: 1000 }),
    },
    'ioredis with limits': { ports, isLimited: true, open: ioredis(LIMITS) },
    'node-redis with limits': {
      ports,
      isLimited: true,
      open: async ([port]) => {
        const client = await quiet(createClient(nodeRedis(port))).connect();
        return {
          store: redisStore(client),
          connections: 1,
          calls: 4,
          close: () => client.destroy(),
        };
      },
    },
    'a pool of node-redis with limits': {
      ports,
      isLimited: true,
      open: async ([port]) => {
        const client = quiet(createClientPool(nodeRedis(port), { maximum: 2 }));
        await client.connect();
        return {
          store: redisStore(client),
          connections: 2,
          calls: 2,
          close: () => client.destroy(),
        };
      },
    },
    'Upstash with limits': {
      ports: () => [Number(new URL(bridge.url).port)],
      isLimited: true,
      opensAnew: true,
      open: async ([port]) => {
        const signal = () => AbortSignal.timeout(5000);
        const client = new Upstash({ url: `http://${HOST}:${port}`, token: 'token', signal });
        return { store: redisStore(client), connections: 1, calls: 4, close: () => {} };
      },
    },
  });

  describe.concurrent('a silent connection of ioredis', () => {
    /** Leaves many calls pending for longer than the store waits, and returns the state of the connection. */
    async function silenced(options: object) {
      const proxy = await startFaultyProxy(server.port);
      const client = quiet(new Redis(proxy.port, HOST, options));
      const store = redisStore(client);
      await store.redrive(KEY);
      let closed = 0;
      client.on('close', () => {
        closed += 1;
      });
      proxy.silence();
      const asked = Array.from({ length: 20 }, () => store.redrive(KEY));
      await Promise.race([Promise.allSettled(asked), pause(9_000)]);
      const seen = { closed, status: client.status };
      client.disconnect();
      proxy.cut();
      await Promise.allSettled(asked);
      await proxy.close();
      return seen;
    }

    test('is closed once, for any number of pending calls', async () => {
      expect(await silenced({})).toEqual({ closed: 1, status: 'ready' });
    });

    test('is kept if the client would not reconnect', async () => {
      expect(await silenced({ retryStrategy: null })).toEqual({ closed: 0, status: 'ready' });
    });
  });
});

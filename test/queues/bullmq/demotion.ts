import { Queue, type RedisOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { startFaultyProxy } from '../../support/faulty-proxy.js';
import { startRedis } from '../../support/redis.js';

/** A primary behind a proxy, and the server that takes its place. */
export async function openPrimary() {
  const [old, next] = await Promise.all([startRedis(), startRedis()]);
  const proxy = await startFaultyProxy(old.port);
  const ends: (() => unknown)[] = [
    () => proxy.close(),
    () => Promise.all([old, next].map((server) => server.remove())),
  ];
  const connect = (port: number, options: RedisOptions) => {
    const retryStrategy = (times: number) => Math.min(times * 100, 1000);
    const client = new Redis(port, '127.0.0.1', { retryStrategy, ...options });
    client.on('error', () => {});
    ends.unshift(() => client.disconnect());
    return client;
  };
  return {
    /** The port of the address, which leads to the primary. */
    port: proxy.port,
    next: next.port,
    connect,
    open(port: number) {
      const connection = connect(port, { maxRetriesPerRequest: 1, socketTimeout: 5_000 });
      const bull = new Queue('webhooks', { connection });
      bull.on('error', () => {});
      return bullmqQueue(bull);
    },
    /** Makes the primary a replica, which keeps its connections. */
    async demote() {
      const admin = new Redis(old.url);
      await admin.replicaof('127.0.0.1', next.port);
      admin.disconnect();
    },
    /** Has the address lead to the new primary. */
    moveAddress: () => proxy.leadTo(next.port),
    loseAnswers: (count: number) => proxy.loseAnswers(count),
    /** Runs at the end, before the connections are closed. */
    atEnd: (end: () => unknown) => void ends.unshift(end),
    async close() {
      for (const end of ends) await end();
    },
  };
}

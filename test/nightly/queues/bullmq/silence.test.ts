import { randomUUID } from 'node:crypto';
import { Queue, type RedisOptions, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue, bullmqWorker } from 'storefront-webhooks/bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { type FaultyProxy, startFaultyProxy } from '../../../support/faulty-proxy.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

/** The settings of docs/stores.md. */
const QUEUE = { maxRetriesPerRequest: 1, socketTimeout: 5_000 };
// Longer than BullMQ waits for a job, which is at most 10 s.
const WORKER = { maxRetriesPerRequest: null, socketTimeout: 12_000 };

withRedis('a connection of BullMQ that falls silent', () => {
  let server: RedisServer;
  let proxy: FaultyProxy;
  const ends: (() => unknown)[] = [];
  const stderr = vi.spyOn(console, 'warn').mockImplementation(() => {});

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    stderr.mockClear();
    proxy = await startFaultyProxy(server.port);
  });
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
    await proxy.close();
  });

  const connect = (options: RedisOptions) => {
    const client = new Redis({ port: proxy.port, ...options });
    client.on('error', () => {});
    ends.push(() => client.disconnect());
    return client;
  };
  function open(options: RedisOptions) {
    const name = `webhooks-${randomUUID()}`;
    const bull = new Queue(name, { connection: connect(options) });
    bull.on('error', () => {});
    return { name, bull, queue: bullmqQueue(bull) };
  }
  const seconds = (since: number) => (performance.now() - since) / 1000;

  test.each([
    ['waits for a job', 0],
    ['waits for a delayed job', 60_000],
  ])(
    'stops the receiver, and a worker that %s, only briefly',
    {
      timeout: 60_000,
    },
    async (_, delay) => {
      const { name, bull, queue } = open(QUEUE);
      const worked: string[] = [];
      const processor = bullmqWorker({
        async dispatch({ id }) {
          worked.push(id);
          return { outcome: 'handled', ran: [] };
        },
      });
      const worker = new Worker(name, processor, { connection: connect(WORKER) });
      worker.on('error', () => {});
      ends.push(() => worker.close(true));
      const [first, second] = [newDelivery(), newDelivery()];
      await enqueue(queue, first);
      await vi.waitUntil(() => worked.length === 1, 20_000);
      if (delay > 0) await bull.add('later', {}, { delay });
      // Give the worker time to start waiting for a job.
      await new Promise((resolve) => setTimeout(resolve, 1_500));

      proxy.silence();
      const silentAt = performance.now();
      await vi.waitUntil(() => enqueue(queue, second).catch(() => undefined), 30_000);
      const received = seconds(silentAt);
      await vi.waitUntil(() => worked.includes(second.id), 40_000);
      const handled = seconds(silentAt);
      expect(received).toBeLessThan(8);
      // BullMQ's own watchdog ends the connection that waits for jobs, and then the one that takes them.
      expect(handled).toBeLessThan(27);
    },
  );

  test.each([
    ['nothing', {}, 1],
    // With a commandTimeout alone, the client gives up the command but keeps the connection.
    ['only a commandTimeout', { commandTimeout: 5_000 }, 1],
    ['a socketTimeout', { socketTimeout: 5_000 }, 0],
  ])('leads to a warning if the client has %s', async (_, options, lines) => {
    const { bull } = open(options);
    await bull.waitUntilReady();
    await bull.getJobCounts();
    expect(stderr).toHaveBeenCalledTimes(lines);
    if (lines) expect(stderr).toHaveBeenCalledWith(expect.stringContaining('socketTimeout: 5000'));
  });
});

import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { testQueue } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { makeBullmq } from '../../../queues/bullmq/engine.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  const open = async (options: { attempts: number }) => makeBullmq(server, options);
  testQueue('BullMQ', { open, openDown }, { describe, test });
});

async function openDown() {
  const down = await startRedis();
  const client = new Redis(down.url, { maxRetriesPerRequest: null });
  client.on('error', () => {});
  const bull = new Queue('webhooks', { connection: client });
  bull.on('error', () => {});
  await bull.waitUntilReady();
  await down.kill();
  return {
    queue: bullmqQueue(bull),
    async close() {
      client.disconnect();
      await down.remove();
    },
  };
}

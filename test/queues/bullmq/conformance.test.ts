import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { afterAll, beforeAll } from 'vitest';
import { type RedisServer, startRedis, withRedis } from '../../support/redis.js';
import { describeQueue } from '../suite.js';
import { makeBullmq } from './engine.js';

withRedis('over Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  describeQueue('BullMQ', async (options) => makeBullmq(server, options), makeDown);
});

async function makeDown() {
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

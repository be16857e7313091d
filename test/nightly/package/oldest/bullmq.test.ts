import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { testQueue } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { removeFolders } from '../../../package/folder.js';
import { requireOlder } from '../../../package/older.js';
import { makeBullmq } from '../../../queues/bullmq/engine.js';
import { enqueue, newDelivery, redrive, soon } from '../../../queues/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

type Bullmq = typeof import('bullmq');

withRedis('on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    await server.remove();
    removeFolders();
  });

  // The first and the last of BullMQ 5, and the last whose retry() keeps attempts used up.
  describe.each(['5.0.0', '5.65.1', '5.81.5'])('BullMQ %s', (version) => {
    let require: NodeJS.Require;
    let bullmq: Bullmq;
    beforeAll(async () => {
      require = await requireOlder([`bullmq@${version}`]);
      bullmq = require('bullmq');
    });

    const open = async (options: { attempts: number }) => makeBullmq(server, options, bullmq);
    testQueue(`BullMQ ${version}`, { open, openDown: () => openDown(require) }, { describe, test });

    test('gives a redriven delivery all of its attempts again', async () => {
      const { bull, queue, work, close } = makeBullmq(server, { attempts: 2 }, bullmq);
      const last: boolean[] = [];
      await work({
        dispatch: async (_, { lastAttempt }) => {
          last.push(lastAttempt);
          return { outcome: 'failed', ran: [] };
        },
      });
      const delivery = newDelivery();
      await enqueue(queue, delivery);
      await vi.waitUntil(async () => (await bull.getFailedCount()) === 1, soon);
      await Promise.all([redrive(queue, delivery), redrive(queue, delivery)]);
      await vi.waitUntil(() => last.length === 4, soon);
      expect(last).toEqual([false, true, false, true]);
      await close();
    });
  });

  test.each(['bullmq@4.18.3', 'bullmq@4.0.0', 'bullmq@3.0.0', 'bull@4.16.5'])(
    'a queue of %s is rejected when it is given to bullmqQueue',
    async (older) => {
      const [name = '', version = ''] = older.split('@');
      const loaded = (await requireOlder([older]))(name);
      const Queue = loaded.Queue ?? loaded;
      const connection = { host: '127.0.0.1', port: server.port };
      const queue = new Queue('webhooks', { connection, redis: connection });
      queue.on('error', () => {});
      await (queue.waitUntilReady?.() ?? queue.isReady());
      expect(() => bullmqQueue(queue)).toThrow(
        name === 'bull'
          ? /this is one of Bull/
          : RegExp(`needs BullMQ 5 or later, and this is BullMQ (${version}|4 or earlier): npm`),
      );
      await queue.close();
    },
  );
});

async function openDown(require: NodeJS.Require) {
  const { Queue }: Bullmq = require('bullmq');
  // The ioredis of this BullMQ.
  const { Redis }: typeof import('ioredis') = require('ioredis');
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

import { setTimeout as pause } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPrimary } from '../../../queues/bullmq/demotion.js';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { withRedis } from '../../../support/redis.js';

withRedis('the connection of a queue of BullMQ', () => {
  let primary: Awaited<ReturnType<typeof openPrimary>>;
  beforeEach(async () => {
    primary = await openPrimary();
  });
  afterEach(() => primary.close());

  test('leaves a server that has become a replica, as soon as the address leads to the new primary', async () => {
    const queue = primary.open(primary.port);
    await enqueue(queue, newDelivery());
    await primary.demote();
    await expect(enqueue(queue, newDelivery())).rejects.toThrow(/READONLY/);
    // The address still leads to the old one.
    await pause(1_200);
    await expect(enqueue(queue, newDelivery())).rejects.toThrow(/READONLY/);
    primary.moveAddress();
    const again = () => enqueue(queue, newDelivery()).catch(() => undefined);
    // As docs/stores.md promises.
    await vi.waitUntil(again, { timeout: 10_000, interval: 200 });
  });

  test('says that it could not start, though Redis is healthy by now', async () => {
    const connection = primary.connect(primary.port, {
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
    });
    await connection.ping();
    // To the first request of BullMQ.
    primary.loseAnswers(1);
    const bull = new Queue('webhooks', { connection });
    bull.on('error', () => {});
    const queue = bullmqQueue(bull);
    await expect(bull.waitUntilReady()).rejects.toThrow();
    expect(await vi.waitUntil(() => connection.ping().catch(() => undefined))).toBe('PONG');
    await expect(enqueue(queue, newDelivery())).rejects.toMatchObject({
      code: 'queue_invalid',
      message: expect.stringMatching(/ could not start \(.+\), .* Restart this process\./),
    });
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { bullmqWorker } from 'storefront-webhooks/bullmq';
import { expect, test, vi } from 'vitest';
import { openPrimary } from '../../../queues/bullmq/demotion.js';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { withRedis } from '../../../support/redis.js';

withRedis('a primary that becomes a replica and keeps its connections', () => {
  test('is left by a worker with the settings of docs/queues.md', async () => {
    const primary = await openPrimary();
    const worked: string[] = [];
    const processor = bullmqWorker({
      async dispatch({ id }) {
        worked.push(id);
        return { outcome: 'handled', ran: [] };
      },
    });
    const connection = primary.connect(primary.port, {
      maxRetriesPerRequest: null,
      socketTimeout: 12_000,
      reconnectOnError: (error: Error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message),
    });
    const worker = new Worker('webhooks', processor, { connection });
    worker.on('error', () => {});
    primary.atEnd(() => worker.close(true));
    try {
      const [first, second] = [newDelivery(), newDelivery()];
      await enqueue(primary.open(primary.port), first);
      await vi.waitUntil(() => worked.includes(first.id), 10_000);
      // The worker waits for a job.
      await pause(200);
      await primary.demote();
      primary.moveAddress();
      await enqueue(primary.open(primary.next), second);
      await vi.waitUntil(() => worked.includes(second.id), 15_000);
      expect(worked).toEqual([first.id, second.id]);
    } finally {
      await primary.close();
    }
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeBullmq } from '../../../queues/bullmq/engine.js';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

withRedis('a worker of BullMQ whose receiver closes', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ args: ['--appendfsync', 'everysec'] });
  });
  afterAll(() => server.remove());

  test('leaves the backlog to other workers', async () => {
    const { bull, queue, work, errors, close } = makeBullmq(server, { attempts: 2 });
    for (let sent = 0; sent < 100; sent++) await enqueue(queue, newDelivery());
    await work(
      {
        closing: AbortSignal.abort(),
        dispatch: async () => ({ outcome: 'unavailable', ran: [] }),
      },
      // Locks are renewed every 0.5 s.
      { concurrency: 4, lockDuration: 1_000 },
    );
    await pause(2_000);
    const waiting = await bull.getWaitingCount();
    await close();
    expect(waiting).toBeGreaterThanOrEqual(90);
    expect(errors).toEqual([]);
  });
});

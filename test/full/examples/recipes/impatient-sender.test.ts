import { setTimeout as pause } from 'node:timers/promises';
import { replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startExample } from '../../../support/program.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';
import type { Started } from '../../../support/start.js';

const WEBHOOK_SECRET = 'a secret for tests';
const WORK_MS = 3_000;

withRedis('a sender that gives up early', () => {
  let redis: RedisServer;
  let shop: Started;
  beforeAll(async () => {
    redis = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] });
    shop = await open();
  });
  afterAll(async () => {
    await shop?.stop();
    await redis?.remove();
  });

  const open = () =>
    startExample('examples/recipes/impatient-sender.ts', {
      env: { WEBHOOK_SECRET, REDIS_URL: redis.url, WORK_MS: String(WORK_MS) },
    });
  const send = (fixture: string, id: string) =>
    replay(`${shop.origin}/webhooks`, fixture, { id, secret: WEBHOOK_SECRET, timeout: 10_000 });
  const deliveries = () => shop.output().match(/Delivered order/g)?.length ?? 0;

  test('gets its answer before the work is done, which happens once', async () => {
    const { outcome, durationMs } = await send('order:paid', 'first');
    expect(outcome).toBe('queued');
    expect(durationMs).toBeLessThan(WORK_MS);
    await send('order:paid', 'second');
    await vi.waitFor(() => expect(deliveries()).toBe(1), 20_000);
  });

  test('loses nothing on SIGTERM: running work finishes, and the next process runs the queued jobs', async () => {
    await send('order:paid/crypto', 'begun');
    shop.terminate();
    expect(await shop.ended).toBe(0);
    const before = deliveries();
    shop = await open();
    await vi.waitFor(() => expect(before + deliveries()).toBe(2), 40_000);
  });

  test('ends on SIGTERM while Redis is down', async () => {
    await pause(1_000);
    await redis.stop();
    await pause(1_000);
    shop.terminate();
    const end = await Promise.race([shop.ended, pause(20_000, 'still running')]);
    expect(end).toBe(0);
  });
});

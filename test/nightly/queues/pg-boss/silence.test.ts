import PgBoss10 from 'pg-boss';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { enqueue, newDelivery } from '../../../queues/deliveries.js';
import { loadPgBoss12 } from '../../../queues/pg-boss/boss12.js';
import { withPgBoss } from '../../../queues/pg-boss/engine.js';
import { startFaultyProxy } from '../../../support/faulty-proxy.js';
import { type PostgresServer, startPostgres } from '../../../support/postgres.js';

// The settings of docs/queues.md, with a shorter query_timeout, which is 10 s there.
const limits = { query_timeout: 4_000, connectionTimeoutMillis: 5_000, keepAlive: true, max: 4 };

withPgBoss('connections of pg-boss that fall silent', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test.each([10, 12] as const)(
    'are dropped, and jobs are queued and run again, with pg-boss %d',
    {
      timeout: 60_000,
    },
    async (version) => {
      const proxy = await startFaultyProxy(server.port);
      const connectionString = server.url.replace(`:${server.port}`, `:${proxy.port}`);
      const options = { connectionString, schema: `silent${version}`, schedule: false, ...limits };
      const PgBoss = version === 10 ? PgBoss10 : (await loadPgBoss12()).PgBoss;
      const boss = new PgBoss(options).on('error', () => {});
      await boss.start();
      const queue = pgBossQueue(boss);
      const worked: string[] = [];
      const dispatch = async ({ id }: { id: string }) => {
        worked.push(id);
        return { outcome: 'handled', ran: [] } as const;
      };
      await pgBossWorker(boss, { dispatch }, { concurrency: 2, pollingIntervalSeconds: 0.5 });
      const [first, second] = [newDelivery(), newDelivery()];
      await enqueue(queue, first);
      await vi.waitUntil(() => worked.length === 1, 20_000);

      proxy.silence();
      const silentAt = performance.now();
      await vi.waitUntil(() => enqueue(queue, second).catch(() => undefined), 30_000);
      expect(performance.now() - silentAt).toBeLessThan(12_000);
      await vi.waitUntil(() => worked.includes(second.id), 30_000);
      expect(performance.now() - silentAt).toBeLessThan(16_000);
      await boss.stop({ graceful: false });
      await proxy.close();
    },
  );
});

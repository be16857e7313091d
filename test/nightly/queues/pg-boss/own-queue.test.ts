import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type PgBoss10 from 'pg-boss';
import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { removeFolders } from '../../../package/folder.js';
import { install } from '../../../package/older.js';
import { enqueue, LONG_MS, newDelivery } from '../../../queues/deliveries.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

/** The class of a version. Its methods are those of pg-boss 10, which exports it as the default. */
type PgBossClass = typeof PgBoss10;

async function loadPgBoss(version: string): Promise<PgBossClass> {
  const folder = await install([`pg-boss@${version}`]);
  const path = createRequire(join(folder, 'package.json')).resolve('pg-boss');
  const loaded: { PgBoss?: PgBossClass; default: PgBossClass } = await import(
    pathToFileURL(path).href
  );
  return loaded.PgBoss ?? loaded.default;
}

withPostgres('a queue that the seller created, with pg-boss', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.remove();
    removeFolders();
  });

  // 11.0 to 12.5 ignore the `deadLetter` of a job.
  test.each(['10.0.0', '11.0.0', '11.1.2', '12.0.0', '12.5.4', '12.8.0'])(
    '%s has its last failed attempt run again by the worker',
    async (version) => {
      const PgBoss = await loadPgBoss(version);
      const schema = `boss${version.replaceAll('.', '_')}`;
      const boss = new PgBoss({ connectionString: server.url, schema, schedule: false });
      await boss.on('error', () => {}).start();
      onTestFinished(() => boss.stop({ graceful: false }));
      await boss.createQueue('failed');
      for (const [name, own] of [
        ['without', {}],
        ['other', { deadLetter: 'failed' }],
      ] as const) {
        const settings = {
          policy: 'standard',
          expireInSeconds: 900,
          retryLimit: 0,
          ...own,
        } as const;
        await boss.createQueue(name, { name, ...settings });
        await enqueue(pgBossQueue(boss, { name }), newDelivery());
        const dispatch = vi.fn(async () => ({ outcome: 'handled', ran: [] }) as const);
        dispatch.mockRejectedValueOnce(new Error('the store is down'));
        await pgBossWorker(boss, { dispatch }, { name, pollingIntervalSeconds: 0.5 });
        await vi.waitFor(() => expect(dispatch).toHaveBeenCalledTimes(2), LONG_MS);
        expect(await boss.getQueue(name)).toMatchObject({
          policy: 'standard',
          expireInSeconds: 900,
          retryLimit: 0,
          deadLetter: `${name}-dead`,
        });
      }
    },
  );
});

import { pgBossQueue } from 'storefront-webhooks/pg-boss';
import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres, withPostgres } from '../../support/postgres.js';
import { describeQueue } from '../suite.js';
import { newBoss } from './bosses.js';
import { makePgBoss, stopBosses } from './engine.js';

withPostgres('over PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await stopBosses();
    await server.remove();
  });

  for (const version of [12, 10] as const) {
    describeQueue(
      `pg-boss ${version}`,
      (options) => makePgBoss(server, version, options),
      async () => {
        const down = await startPostgres();
        const boss = newBoss(version, down.url);
        await boss.start();
        await down.stop('immediate');
        return {
          queue: pgBossQueue(boss),
          async close() {
            await boss.stop({ graceful: false });
            await down.remove();
          },
        };
      },
    );
  }
});

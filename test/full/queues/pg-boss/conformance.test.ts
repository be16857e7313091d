import { pgBossQueue } from 'storefront-webhooks/pg-boss';
import { testQueue } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { EngineOptions } from '../../../queues/deliveries.js';
import { newBoss } from '../../../queues/pg-boss/bosses.js';
import { makePgBoss, stopBosses, withPgBoss } from '../../../queues/pg-boss/engine.js';
import { type PostgresServer, startPostgres } from '../../../support/postgres.js';
import { casesOf } from '../../../support/tier.js';

withPgBoss('over PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await stopBosses();
    await server.remove();
  });

  for (const version of casesOf([12, 10] as const, (version) => version === 12)) {
    const openDown = async () => {
      const down = await startPostgres();
      const boss = await newBoss(version, down.url);
      await boss.start();
      await down.stop('immediate');
      return {
        queue: pgBossQueue(boss),
        async close() {
          await boss.stop({ graceful: false });
          await down.remove();
        },
      };
    };
    const open = (options: EngineOptions) => makePgBoss(server, version, options);
    testQueue(`pg-boss ${version}`, { open, openDown }, { describe, test });
  }
});

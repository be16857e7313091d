import { pgBossQueue, pgBossWorker } from 'storefront-webhooks/pg-boss';
import { testQueue } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeFolders } from '../../../package/folder.js';
import { requireOlder } from '../../../package/older.js';
import { OLDEST } from '../../../package/oldest.js';
import type { EngineOptions } from '../../../queues/deliveries.js';
import { newReceiver } from '../../../queues/deliveries.js';
import { newBoss } from '../../../queues/pg-boss/bosses.js';
import { makePgBoss, stopBosses } from '../../../queues/pg-boss/engine.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('over PostgreSQL', () => {
  let server: PostgresServer;
  let Boss10: typeof import('pg-boss');
  beforeAll(async () => {
    server = await startPostgres();
    Boss10 = (await requireOlder([`pg-boss@${OLDEST['pg-boss']}`]))('pg-boss');
  });
  afterAll(async () => {
    await stopBosses();
    await server.remove();
    removeFolders();
  });

  const open = (options: EngineOptions) => makePgBoss(server, 10, options, Boss10);
  const openDown = async () => {
    const down = await startPostgres();
    const boss = await newBoss(10, down.url, Boss10);
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
  testQueue(`pg-boss ${OLDEST['pg-boss']}`, { open, openDown }, { describe, test });

  test.each(['9.0.3', '7.4.0'])('pg-boss %s is rejected when it is given', async (version) => {
    const Boss = (await requireOlder([`pg-boss@${version}`]))('pg-boss');
    const boss = new Boss(server.url);
    const expected =
      /pg-boss 10 or later, and this is pg-boss 9 or earlier: npm install pg-boss@10/;
    expect(() => pgBossQueue(boss)).toThrow(expected);
    await expect(pgBossWorker(boss, newReceiver({}))).rejects.toThrow(expected);
  });
});

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { createReceiver } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { STARTING_MS } from '../../../stores/postgres/claiming.js';
import { socket } from '../../../stores/postgres/socket.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

/** Longer than the limit of a silent connection. */
const PAUSE_MS = 4_500;

withPostgres('a handler in a transaction of postgres.js with limits', () => {
  let server: PostgresServer;
  let sql: postgres.Sql;
  beforeAll(async () => {
    server = await startPostgres();
    const own = {
      connect_timeout: 5,
      max_pipeline: 1,
      fetch_types: false,
      idle_timeout: 2,
      socket,
    };
    sql = postgres(server.url, own);
    await sql`CREATE TABLE sale (order_id text PRIMARY KEY)`;
  }, STARTING_MS);
  beforeEach(async () => {
    await sql`TRUNCATE sale`;
  });
  afterAll(async () => {
    await sql.end({ timeout: 1 });
    await server.remove();
  });

  /** Runs a handler, and returns the outcome, the number of its runs, and the sales. */
  async function run(name: string, work: (tx: postgres.TransactionSql) => Promise<unknown>) {
    let runs = 0;
    const store = postgresStore(sql);
    const receiver = createReceiver({ secret: 'a secret for tests', scope: name, store }).onPaid(
      async ({ tx }) => {
        runs += 1;
        await work(tx);
      },
      { transaction: true },
    );
    const { outcome } = await replay(receiver, 'order:paid', { timeout: 30_000 });
    const sales = await sql<{ order_id: string }[]>`SELECT order_id FROM sale ORDER BY order_id`;
    return { outcome, runs, sales: sales.map(({ order_id }) => order_id) };
  }

  test('keeps its connection while it waits for another service', async () => {
    const ran = await run('pause', async (tx) => {
      await tx`INSERT INTO sale VALUES ('paused')`;
      await sleep(PAUSE_MS);
      await tx`INSERT INTO sale VALUES ('resumed')`;
    });
    expect(ran).toEqual({ outcome: 'handled', runs: 1, sales: ['paused', 'resumed'] });
  });

  test('may wait in a savepoint that has failed, and go on after it', async () => {
    const ran = await run('savepoint', async (tx) => {
      const failed = tx.savepoint(async (inner) => {
        await inner`SELECT no_such_column`.catch(() => {});
        await sleep(PAUSE_MS);
      });
      await failed.catch(() => {});
      await tx`INSERT INTO sale VALUES ('after')`;
    });
    expect(ran).toEqual({ outcome: 'handled', runs: 1, sales: ['after'] });
  });

  test.each<[string, (tx: postgres.TransactionSql) => postgres.PendingQuery<postgres.Row[]>]>([
    ['copy', (tx) => tx`COPY sale FROM STDIN`],
    ['unsafe copy', (tx) => tx.unsafe('COPY sale FROM STDIN')],
  ])('may copy rows for a while: %s', async (name, copy) => {
    const ran = await run(name, async (tx) => {
      const rows = async function* () {
        for (const id of ['1', '2', '3', '4', '5']) {
          await sleep(1_000);
          yield `${id}\n`;
        }
      };
      await pipeline(Readable.from(rows()), await copy(tx).writable());
    });
    expect(ran).toEqual({ outcome: 'handled', runs: 1, sales: ['1', '2', '3', '4', '5'] });
  });
});

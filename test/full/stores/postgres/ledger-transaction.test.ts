import pg from 'pg';
import postgres from 'postgres';
import {
  type PostgresClient,
  postgresLedger,
  postgresSchema,
  type TransactionSource,
} from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const SOLD = 'CREATE TABLE sold (amount integer NOT NULL CHECK (amount < 10) DEFAULT 0)';
const SELL = 'UPDATE sold SET amount = amount + 1';
const UNDO = new Error('undo');
const newEffect = () => ({ key: newKey(), handler: 'ship' });

/** A driver, and a few statements through it. */
interface Driver<Tx extends PostgresClient> {
  readonly source: TransactionSource<Tx>;
  readonly client: PostgresClient;
  run(tx: Tx, statement: string): PromiseLike<unknown>;
  sold(): Promise<number>;
  /** The number of its connections that are idle in a transaction. */
  left(): Promise<number>;
}

async function describeDriver<Tx extends PostgresClient>(driver: Driver<Tx>): Promise<void> {
  const { source, client, run, sold, left } = driver;
  const ledger = postgresLedger(client);
  const sell = (tx: Tx) => run(tx, SELL);

  const effect = newEffect();
  const before = await sold();
  const undone = ledger.transaction(source, effect, async (tx) => {
    await sell(tx);
    throw UNDO;
  });
  await expect(undone).rejects.toBe(UNDO);
  expect(await sold()).toBe(before);
  expect(await ledger.transaction(source, effect, sell)).toBe(true);
  expect(await ledger.transaction(source, effect, sell)).toBe(false);
  expect(await sold()).toBe(before + 1);

  // The error of a failed statement is thrown. If the work catches it, nothing is entered.
  const failing = newEffect();
  const broken = (tx: Tx) => run(tx, 'UPDATE sold SET amount = 99');
  await expect(ledger.transaction(source, failing, broken)).rejects.toMatchObject({
    code: '23514',
  });
  const swallowing = async (tx: Tx) => {
    await sell(tx);
    await broken(tx).then(undefined, () => {});
  };
  await expect(ledger.transaction(source, failing, swallowing)).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:25P02|23514)$/),
  });
  expect(await sold()).toBe(before + 1);

  // The work must not end its own transaction.
  const ending = async (tx: Tx) => {
    await run(tx, 'ROLLBACK');
  };
  await expect(ledger.transaction(source, failing, ending)).rejects.toThrow();
  expect(await ledger.transaction(source, failing, sell)).toBe(true);
  expect(await sold()).toBe(before + 2);

  // Once the work has failed, no statement of it runs outside of the transaction.
  let late: Promise<unknown> | undefined;
  const racing = async (tx: Tx) => {
    const slow = Promise.resolve(run(tx, 'SELECT pg_sleep(0.3)'));
    late = slow.then(() => sell(tx)).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw UNDO;
  };
  await expect(ledger.transaction(source, newEffect(), racing)).rejects.toBe(UNDO);
  await late;
  expect(await sold()).toBe(before + 2);

  // An invalid effect is rejected before a transaction begins.
  const keyless = ledger.transaction(source, { key: 'order 1', handler: 'ship' }, sell);
  await expect(keyless).rejects.toMatchObject({ name: 'UsageError', code: 'key_invalid' });
  expect(await left()).toBe(0);
}

withPostgres('a transaction of the ledger', () => {
  let server: PostgresServer;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, max: 3 });
    pool.on('error', () => {});
    await pool.query(postgresSchema());
    await pool.query(`${SOLD}; INSERT INTO sold DEFAULT VALUES`);
  }, STARTING_MS);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  const sold = async () => (await pool.query('SELECT amount FROM sold')).rows[0].amount;
  const left = async () => {
    const states = `SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;
    return (await pool.query(states)).rows.length;
  };

  test('runs an effect once, through pg', async () => {
    const run = (tx: pg.PoolClient, statement: string) => tx.query(statement);
    await describeDriver({ source: pool, client: pool, run, sold, left });
    expect(pool.totalCount - pool.idleCount).toBe(0);
  });

  test('runs an effect once, through postgres.js', async () => {
    const sql = postgres(server.url, { max: 2, onnotice: () => {} });
    const run = (tx: postgres.TransactionSql, statement: string) => tx.unsafe(statement);
    await describeDriver({ source: sql, client: sql, run, sold, left });
    await sql.end();
  });

  test('destroys a connection after any failure on it, and keeps the others', async () => {
    const ledger = postgresLedger(pool);
    const pid = async (tx: pg.PoolClient) =>
      (await tx.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const pids: number[] = [];
    const one = new pg.Pool({ connectionString: server.url, max: 1 });
    one.on('error', () => {});
    const note = async (error?: Error) => {
      const noting = ledger.transaction(one, newEffect(), async (tx) => {
        pids.push(await pid(tx));
        if (error) throw error;
      });
      await noting.catch((caught) => expect(caught).toBe(error));
    };
    for (const error of [undefined, undefined, UNDO, undefined]) await note(error);
    expect(pids[1]).toBe(pids[0]);
    expect(pids[2]).toBe(pids[0]);
    expect(pids[3]).not.toBe(pids[0]);
    // Its listener is removed: a returned connection has only the pool's own.
    const client = await one.connect();
    expect(client.listenerCount('error')).toBe(0);
    client.release();
    await one.end();
  });

  test('throws the first error, even if ROLLBACK and release fail', async () => {
    const ledger = postgresLedger(pool);
    const one = new pg.Pool({ connectionString: server.url, max: 1 });
    let lent: pg.PoolClient | undefined;
    one.once('acquire', (client) => {
      lent = client;
    });
    const failing = ledger.transaction(one, newEffect(), async () => {
      lent?.release(true);
      throw UNDO;
    });
    await expect(failing).rejects.toBe(UNDO);
    expect(lent).toBeDefined();
    await one.end();
  });

  test('rejects if no connection is available', async () => {
    const nowhere = new pg.Pool({ host: server.host, port: 1 });
    const transaction = postgresLedger(pool).transaction(nowhere, newEffect(), async () => {});
    await expect(transaction).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await nowhere.end();
  });

  test('rejects an object that cannot begin a transaction, before it runs a statement', async () => {
    const ledger = postgresLedger(pool);
    const single = new pg.Client(server.url);
    const lent = await pool.connect();
    const things = [single, lent, undefined, null, 'postgres://', {}, { transaction: () => {} }];
    for (const thing of things) {
      // A JavaScript program can pass anything.
      const source = thing as unknown as pg.Pool;
      const refused = ledger.transaction(source, newEffect(), async () => {});
      await expect(refused).rejects.toMatchObject({
        name: 'UsageError',
        code: 'client_invalid',
        message: expect.stringContaining('Pool of pg'),
      });
    }
    lent.release();
    // The client was not connected.
    await single.connect();
    await single.end();
  });

  test('runs an effect once for forty simultaneous calls, some of which fail', async () => {
    const ledger = postgresLedger(pool);
    const effect = newEffect();
    const before = await sold();
    let failures = 0;
    const sell = () =>
      ledger.transaction(pool, effect, async (tx) => {
        await tx.query(SELL);
        if (failures++ < 3) throw UNDO;
      });
    const sales = await Promise.allSettled(Array.from({ length: 40 }, sell));
    expect(sales.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect(sales.filter((sale) => sale.status === 'fulfilled' && sale.value)).toHaveLength(1);
    expect(await sold()).toBe(before + 1);
  });
});

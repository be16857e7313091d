import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import postgres from 'postgres';
import { type PostgresClient, postgresLedger, postgresSchema } from 'storefront-webhooks/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { NO_EFFECTS } from '../../../stores/effects.js';
import { EMPTY, newKey, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const UNDO = new Error('undo');

/** Tests a ledger in a transaction of any driver. */
async function describeTransactions(
  ledger: ReturnType<typeof postgresLedger>,
  begin: (run: (tx: PostgresClient) => Promise<void>) => Promise<unknown>,
) {
  const effect = { key: newKey(), handler: 'ship\u0000' };
  const enter = async (of = effect, error?: Error) => {
    let isNew: boolean | undefined;
    const run = begin(async (tx) => {
      isNew = await ledger.once(tx, of);
      if (error) throw error;
    });
    if (error) await expect(run).rejects.toBe(error);
    else await run;
    return isNew;
  };
  // After a rollback, the effect is not entered.
  expect(await enter(effect, UNDO)).toBe(true);
  expect(await enter()).toBe(true);
  expect(await enter()).toBe(false);
  expect(await enter({ ...effect, handler: 'mail' })).toBe(true);
  expect(await enter({ ...effect, key: newKey() })).toBe(true);
}

withPostgres('the ledger in PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => {});
    await pool.query(postgresSchema());
  }, STARTING_MS);
  beforeEach(async () => {
    await pool.query(EMPTY);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  async function transact(client: pg.PoolClient, run: (tx: pg.PoolClient) => Promise<void>) {
    await client.query('BEGIN');
    try {
      await run(client);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  }

  test('enters an effect once, through pg', async () => {
    const client = await pool.connect();
    await describeTransactions(postgresLedger(pool), (run) => transact(client, run));
    client.release();
  });

  test('enters an effect once, through postgres.js', async () => {
    const sql = postgres(server.url, { max: 1 });
    await describeTransactions(postgresLedger(sql), (run) => sql.begin((tx) => run(tx)));
    await sql.end();
  });

  describe('for two simultaneous transactions,', () => {
    let one: pg.PoolClient;
    let two: pg.PoolClient;
    const effect = { key: newKey(), handler: 'ship' };

    beforeEach(async () => {
      [one, two] = await Promise.all([pool.connect(), pool.connect()]);
    });
    afterEach(() => {
      for (const client of [one, two]) client.release();
    });

    /** Waits until a transaction waits for the row of another one. */
    const blocked = () =>
      vi.waitUntil(async () => {
        const { rows } = await pool.query(`SELECT 1 FROM pg_locks WHERE NOT granted`);
        return rows.length > 0;
      }, 10_000);

    test.each([
      ['COMMIT', false],
      ['ROLLBACK', true],
    ])('lets the second wait for the %s of the first', async (end, expected) => {
      const ledger = postgresLedger(pool);
      await Promise.all([one.query('BEGIN'), two.query('BEGIN')]);
      expect(await ledger.once(one, effect)).toBe(true);
      const second = ledger.once(two, effect);
      await blocked();
      await one.query(end);
      expect(await second).toBe(expected);
      await two.query('COMMIT');
    });

    test('lets the second wait no longer than its lock_timeout', async () => {
      const ledger = postgresLedger(pool);
      await Promise.all([one.query('BEGIN'), two.query('BEGIN')]);
      expect(await ledger.once(one, effect)).toBe(true);
      await two.query(`SET LOCAL lock_timeout = '20ms'`);
      await expect(ledger.once(two, effect)).rejects.toMatchObject({ code: '55P03' });
      await Promise.all([one.query('ROLLBACK'), two.query('ROLLBACK')]);
    });

    test('makes the second fail and be retried, if they are serializable', async () => {
      const ledger = postgresLedger(pool);
      for (const client of [one, two]) {
        await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
        // A transaction reads the state at its first statement.
        await client.query('SELECT 1 FROM webhook_effect');
      }
      expect(await ledger.once(one, effect)).toBe(true);
      await one.query('COMMIT');
      await expect(ledger.once(two, effect)).rejects.toMatchObject({ code: '40001' });
      await two.query('ROLLBACK');
      await two.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
      expect(await ledger.once(two, effect)).toBe(false);
      await two.query('COMMIT');
    });
  });

  test('enters an effect once for forty simultaneous transactions, some of which fail', async () => {
    await pool.query('CREATE TABLE sold (amount integer)');
    await pool.query('INSERT INTO sold VALUES (0)');
    const ledger = postgresLedger(pool);
    const effect = { key: newKey(), handler: 'ship' };
    let failures = 0;
    const sell = async () => {
      const client = await pool.connect();
      try {
        await transact(client, async (tx) => {
          if (!(await ledger.once(tx, effect))) return;
          await tx.query('UPDATE sold SET amount = amount + 1');
          if (failures++ < 3) throw UNDO;
        });
      } finally {
        client.release();
      }
    };
    const sales = await Promise.allSettled(Array.from({ length: 40 }, sell));
    expect(sales.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect((await pool.query('SELECT amount FROM sold')).rows).toEqual([{ amount: 1 }]);
  });

  describe('without its table', () => {
    let count = 0;
    let small: pg.Pool;

    const connect = async (user: string) => {
      const database = `ledger_${++count}`;
      await pool.query(`CREATE DATABASE ${database}`);
      const open = (options: pg.PoolConfig) =>
        // A pool that has ended reports an error if the server stops before its connections close.
        new pg.Pool({ host: server.host, port: server.port, database, ...options }).on(
          'error',
          () => {},
        );
      small = open({ user, max: 1 });
      return open({ user: 'postgres' });
    };
    afterEach(() => small.end());

    test('creates it before the first effect, and needs no second connection', async () => {
      await (await connect('postgres')).end();
      const ledger = postgresLedger(small);
      const client = await small.connect();
      await describeTransactions(ledger, (run) => transact(client, run));
      client.release();
    });

    test('rejects every effect until the table exists, without blocking', async () => {
      await pool.query('CREATE ROLE nobody LOGIN');
      const admin = await connect('nobody');
      const ledger = postgresLedger(small);
      const effect = { key: newKey(), handler: 'ship' };
      const enter = async () => {
        const client = await small.connect();
        let isNew: boolean | undefined;
        try {
          await transact(client, async (tx) => {
            isNew = await ledger.once(tx, effect);
          });
          return isNew;
        } finally {
          client.release();
        }
      };
      // Enter twice: the only connection is in a transaction, so looking for the tables on another one would block.
      for (const _ of ['once', 'twice']) {
        await expect(enter()).rejects.toMatchObject({ code: 'schema_missing' });
      }
      await admin.query(`${postgresSchema()} GRANT ALL ON webhook_effect TO nobody`);
      const isNew = await vi.waitUntil(() => enter().catch(() => undefined), 10_000);
      expect(isNew).toBe(true);
      await admin.query('DROP TABLE webhook_effect');
      await expect(enter()).rejects.toMatchObject({ code: '42P01' });
      await admin.query(`${postgresSchema()} GRANT ALL ON webhook_effect TO nobody`);
      expect(await vi.waitUntil(() => enter().catch(() => undefined), 10_000)).toBe(true);
      await admin.end();
    });
  });

  test('rejects if the server is down, and works when it is up', async () => {
    await server.stop();
    const ledger = postgresLedger(pool);
    const effect = { key: newKey(), handler: 'ship' };
    const enter = async () => {
      const client = await pool.connect();
      let isNew: boolean | undefined;
      try {
        await transact(client, async (tx) => {
          isNew = await ledger.once(tx, effect);
        });
        return isNew;
      } finally {
        client.release(true);
      }
    };
    await expect(enter()).rejects.toThrow();
    await server.start();
    expect(await vi.waitUntil(() => enter().catch(() => undefined), 10_000)).toBe(true);
  });

  test('rejects a pool, on which the effect would be in another transaction', async () => {
    const ledger = postgresLedger(pool);
    const sql = postgres(server.url);
    const lite = await PGlite.create();
    for (const outside of [pool, sql, lite]) {
      await expect(ledger.once(outside, { key: newKey(), handler: 'ship' })).rejects.toMatchObject({
        name: 'UsageError',
        code: 'transaction_missing',
      });
    }
    await sql.end();
    await lite.close();
  });

  const entries = async () => (await pool.query('SELECT 1 FROM webhook_effect')).rows.length;

  test('rejects a connection without BEGIN, and enters nothing', async () => {
    const ledger = postgresLedger(pool);
    const effect = { key: newKey(), handler: 'ship' };
    const client = await pool.connect();
    const sql = postgres(server.url);
    const reserved = await sql.reserve();
    const connections: PostgresClient[] = [
      client,
      reserved,
      // Each statement may use another connection.
      { query: (text, values) => pool.query(text, values) },
    ];
    for (const connection of connections) {
      for (const _ of ['once', 'twice']) {
        await expect(ledger.once(connection, effect)).rejects.toMatchObject({
          name: 'UsageError',
          code: 'transaction_missing',
          message: expect.stringContaining('BEGIN'),
        });
      }
    }
    expect(await entries()).toBe(0);
    // The ledger rejects the connection also after it has had a transaction.
    await transact(client, async (tx) => {
      expect(await ledger.once(tx, effect)).toBe(true);
    });
    const other = { ...effect, handler: 'mail' };
    await expect(ledger.once(client, other)).rejects.toMatchObject({ code: 'transaction_missing' });
    expect(await entries()).toBe(1);
    client.release();
    reserved.release();
    await sql.end();
  });

  test('enters a thousand effects right after BEGIN, also within a savepoint', async () => {
    const ledger = postgresLedger(pool);
    const client = await pool.connect();
    for (let time = 0; time < 500; time++) {
      const effect = { key: newKey(), handler: 'ship' };
      await transact(client, async (tx) => {
        expect(await ledger.once(tx, effect)).toBe(true);
        await tx.query('SAVEPOINT part');
        expect(await ledger.once(tx, effect)).toBe(false);
        expect(await ledger.once(tx, { ...effect, handler: 'mail' })).toBe(true);
        await tx.query('ROLLBACK TO part');
        expect(await ledger.once(tx, { ...effect, handler: 'mail' })).toBe(true);
      });
    }
    client.release();
    expect(await entries()).toBe(1_000);
  });

  test.each(NO_EFFECTS)('rejects an invalid effect: %s', async (_, effect) => {
    const client = await pool.connect();
    await client.query('BEGIN');
    // A JavaScript program can pass anything.
    const once = postgresLedger(pool).once(client, effect as { key: string; handler: string });
    await expect(once).rejects.toMatchObject({ name: 'UsageError', code: 'key_invalid' });
    await client.query('COMMIT');
    client.release();
    expect(await entries()).toBe(0);
  });
});

import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import postgres from 'postgres';
import { postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SILENCE_MS } from '../../../../src/stores/guard.js';
import { openPool } from '../../../../src/stores/postgres/pool-session.js';
import { PreparedCalls } from '../../../../src/stores/postgres/prepared-calls.js';
import { acquire, newDelivery, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { runInStore, termsOf } from '../../../stores/postgres/work-of-a-transaction.js';
import { describeTransactions, TABLE } from '../../../stores/transactions.js';
import { ended } from '../../../support/patience.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('PostgreSQL', () => {
  let server: PostgresServer;
  const EMPTY = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public';
  let pool: pg.Pool;
  let other: pg.Pool;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = await startPostgres();
    const limits = { query_timeout: 5_000, connectionTimeoutMillis: 5_000, keepAlive: true };
    pool = new pg.Pool({ connectionString: server.url, ...limits });
    other = new pg.Pool({ connectionString: server.url, max: 1, ...limits });
    sql = postgres(server.url, { max: 4, fetch_types: false, onnotice() {} });
    for (const one of [pool, other]) one.on('error', () => {});
  }, STARTING_MS);
  afterAll(async () => {
    await Promise.all([pool.end(), other.end(), sql.end()]);
    await server.remove();
  });

  describeTransactions('a pool of pg, beside one with a single connection', async () => {
    await pool.query(`${EMPTY}; ${TABLE}`);
    return {
      store: postgresStore(pool),
      other: postgresStore(other),
      run: (tx, statement) => tx.query(statement),
      exec: (statements) => pool.query(statements),
      sold: async () => (await pool.query('SELECT * FROM sold')).rows.length,
    };
  });

  describeTransactions('postgres.js', async () => {
    await pool.query(`${EMPTY}; ${TABLE}`);
    return {
      store: postgresStore(sql),
      other: postgresStore(sql),
      run: (tx, statement) => tx.unsafe(statement),
      exec: (statements) => pool.query(statements),
      sold: async () => (await pool.query('SELECT * FROM sold')).rows.length,
    };
  });

  test('a connection that ends when it is silent is kept awake while a handler waits', async () => {
    await pool.query(EMPTY);
    const connection = connect(server.port, server.host);
    const options = { max: 1, fetch_types: false, onnotice() {}, socket: () => connection };
    const one = postgres(server.url, options);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { isDone } = await runInStore(postgresStore(one), async () => {
      const heard = once(connection, 'data');
      // The limit of docs/stores.md.
      await vi.advanceTimersByTimeAsync(3_999);
      await ended(heard, 'the silence');
    });
    vi.useRealTimers();
    expect(isDone).toBe(true);
    await one.end();
  });

  test('a connection leaves the pool if its transaction could not be recorded', async () => {
    await pool.query(EMPTY);
    const small = new pg.Pool({ connectionString: server.url, max: 2, query_timeout: 5_000 });
    const store = postgresStore(small);
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery, { leaseMs: 70_000, isTransaction: true });
    const running = store.transactions?.run(termsOf(delivery.key, fence), (tx) =>
      tx.query('DELETE FROM webhook_delivery'),
    );
    await expect(running).rejects.toMatchObject({ code: 'transaction_missing' });
    // On all of its connections at once.
    const answers = await Promise.all([small.query('SELECT 1'), small.query('SELECT 1')]);
    expect(answers.map(({ rows }) => rows.length)).toEqual([1, 1]);
    await small.end();
  });

  test('a connection returns to the pool if its transaction no longer waits for it', async () => {
    const one = new pg.Pool({ connectionString: server.url, max: 1 });
    const held = await one.connect();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const late = expect(openPool(one, new PreparedCalls(false))).rejects;
    const refused = late.toMatchObject({ code: 'timed_out' });
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    vi.useRealTimers();
    await refused;
    held.release();
    await vi.waitFor(() => expect([one.totalCount, one.idleCount]).toEqual([1, 1]));
    await one.end();
  });

  test('a transaction that gets no connection leaves its place to the next one', async () => {
    await pool.query(EMPTY);
    const small = new pg.Pool({ connectionString: server.url, max: 2 });
    const store = postgresStore(small);
    const delivery = newDelivery();
    const lease = { leaseMs: 70_000, isTransaction: true };
    const { fence } = await acquire(store, delivery, lease);
    const run = () => store.transactions?.run(termsOf(delivery.key, fence), () => {});
    const held = await Promise.all([small.connect(), small.connect()]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const refused = run();
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    vi.useRealTimers();
    expect(await refused).toMatchObject({ state: 'unavailable' });
    for (const one of held) one.release();
    expect(await run()).toEqual({ state: 'done' });
    await small.end();
  });

  test('a later attempt that waited for a connection blocks its delivery for 10 s if its process dies', async () => {
    await pool.query(EMPTY);
    const limits = { query_timeout: 5_000, connectionTimeoutMillis: 5_000 };
    const small = new pg.Pool({ connectionString: server.url, max: 2, ...limits });
    const store = postgresStore(small);
    const waiting = newDelivery();
    await acquire(postgresStore(pool), waiting, { leaseMs: 0 });
    const lease = { leaseMs: 70_000, isTransaction: true };
    // A handler has the only connection for transactions.
    const other = newDelivery();
    const held = await acquire(store, other, lease);
    let end = () => {};
    let running: Promise<unknown> | undefined;
    await new Promise<void>((begun) => {
      const work = () =>
        new Promise<void>((ended) => {
          end = ended;
          begun();
        });
      running = store.transactions?.run(termsOf(other.key, held.fence), work);
    });
    const { attempt, fence } = await acquire(store, waiting, lease);
    // The receiver does this before it runs a handler again. After that, the process dies.
    expect(await store.renew(waiting.key, fence, lease.leaseMs)).toBe(true);
    const { rows } = await pool.query(
      `SELECT extract(epoch FROM not_before - clock_timestamp())::float8 AS seconds FROM webhook_delivery
      WHERE key = decode($1, 'hex')`,
      [waiting.key],
    );
    end();
    await running;
    await small.end();
    expect(attempt).toBe(2);
    expect(rows[0].seconds).toBeGreaterThan(5);
    expect(rows[0].seconds).toBeLessThanOrEqual(10);
  });
});

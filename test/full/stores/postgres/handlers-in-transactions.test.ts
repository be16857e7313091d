import pg from 'pg';
import postgres from 'postgres';
import { postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll } from 'vitest';
import { STARTING_MS } from '../../../stores/postgres/claiming.js';
import { describeTransactions, TABLE } from '../../../stores/transactions.js';
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
});

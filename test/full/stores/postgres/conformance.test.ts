import pg from 'pg';
import postgres from 'postgres';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll } from 'vitest';
import { AGE, EMPTY, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { describeStore } from '../../../stores/suite.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url });
    sql = postgres(server.url);
    await pool.query(postgresSchema());
  }, STARTING_MS);

  afterAll(async () => {
    await pool.end();
    await sql.end();
    await server.remove();
  });

  describeStore(
    'PostgreSQL, through pg,',
    async () => {
      await pool.query(EMPTY);
      return postgresStore(pool);
    },
    { age: () => pool.query(AGE) },
  );

  describeStore(
    'PostgreSQL, through postgres.js,',
    async () => {
      await pool.query(EMPTY);
      return postgresStore(sql);
    },
    { age: () => pool.query(AGE) },
  );
});

import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import postgres from 'postgres';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import { openPglite } from '../../support/pglite.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../support/postgres.js';
import { describeStore } from '../suite.js';
import { AGE, EMPTY, STARTING_MS } from './claiming.js';

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

describe('PGlite', () => {
  let database: PGlite;

  beforeAll(async () => {
    database = await openPglite();
    await database.exec(postgresSchema());
  }, STARTING_MS);

  afterAll(() => database.close());

  describeStore(
    'PGlite',
    async () => {
      await database.exec(EMPTY);
      return postgresStore(database);
    },
    { age: () => database.exec(AGE) },
  );
});

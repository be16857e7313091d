import pg from 'pg';
import postgres from 'postgres';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll } from 'vitest';
import { STARTING_MS } from '../../../stores/postgres/claiming.js';
import { socket } from '../../../stores/postgres/socket.js';
import { describeSilence, type Silenced } from '../../../stores/silent.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const CONNECTIONS = 4;

withPostgres('on silent connections to PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    const pool = new pg.Pool({ connectionString: server.url });
    await pool.query(postgresSchema());
    await pool.end();
  }, STARTING_MS);
  afterAll(() => server.remove());

  const ports = () => [server.port];
  const at = (port = 0) => ({ host: '127.0.0.1', port, user: 'postgres', max: CONNECTIONS });

  function openPool(options: pg.PoolConfig): Silenced {
    const pool = new pg.Pool(options);
    pool.on('error', () => {});
    return {
      store: postgresStore(pool),
      connections: CONNECTIONS,
      calls: CONNECTIONS,
      close: () => pool.end(),
    };
  }

  describeSilence({
    'a plain pg.Pool': { ports, isLimited: false, open: async ([port]) => openPool(at(port)) },
    'a pg.Pool with limits': {
      ports,
      isLimited: true,
      open: async ([port]) => {
        const limits = { query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true };
        return openPool({ ...at(port), ...limits });
      },
    },
    'postgres.js with limits': {
      ports,
      isLimited: true,
      open: async ([port]) => {
        const limits = {
          connect_timeout: 5,
          max_pipeline: 1,
          fetch_types: false,
          idle_timeout: 2,
          socket,
        };
        const sql = postgres({ ...at(port), ...limits });
        return {
          store: postgresStore(sql),
          connections: CONNECTIONS,
          calls: CONNECTIONS,
          close: () => sql.end({ timeout: 1 }),
        };
      },
    },
  });
});

import pg from 'pg';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/postgres.js';
import { startExample } from '../support/program.js';
import { WEBHOOK_SECRET } from './shop.js';

const saved = loadFixture('goods');
const order = JSON.parse(Buffer.from(saved.body).toString());
export const product: string = order.product_id;

/** Keeps the database of examples/stock/keys.ts while the tests of a file run. */
export function useKeys() {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, max: 2 });
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  const open = () =>
    startExample('examples/stock/keys.ts', {
      env: { WEBHOOK_SECRET, DATABASE_URL: server.url },
    });
  /** The codes that an order has. */
  const codesOf = async (id: string) => {
    const { rows } = await pool.query('SELECT code FROM licence WHERE order_id = $1', [id]);
    return rows.map(({ code }): string => code).sort();
  };
  const call = (origin: string, changes: object) => {
    const body = Buffer.from(JSON.stringify({ ...order, ...changes }));
    return replay(
      `${origin}/goods`,
      { ...saved, body },
      { secret: WEBHOOK_SECRET, timeout: 20_000 },
    );
  };

  /** Enters keys that can be sold. */
  const enter = (prefix: string, count: number) =>
    pool.query(
      'INSERT INTO licence (code, product) SELECT $1 || n, $2 FROM generate_series(1, $3::int) AS n',
      [prefix, product, count],
    );
  return {
    open,
    call,
    codesOf,
    enter,
    query: (...args: [string, unknown[]?]) => pool.query(...args),
    connect: () => pool.connect(),
  };
}

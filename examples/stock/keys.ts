/**
 * A shop of licence keys: the answer to the call of a dynamic product is the next key of a table of PostgreSQL. An
 * order gets one key, and the same one however often it asks, whatever dies in between.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createGoods, type GoodsOrder } from 'storefront-webhooks/goods';
import { toNodeHandler } from 'storefront-webhooks/node';
import { postgresStore } from 'storefront-webhooks/postgres';

// A connection can stay open and carry nothing any more: without limits, a query would wait for ever.
const options = {
  connectionString: process.env.DATABASE_URL,
  query_timeout: 5000,
  connectionTimeoutMillis: 5000,
  keepAlive: true,
};
const pool = new pg.Pool(options);
// Of its own, so that it can prolong leases while keys are taken through the other one.
const storePool = new pg.Pool({ ...options, max: 4 });
// An idle connection that the server has closed: the pool opens another one.
for (const each of [pool, storePool]) each.on('error', () => {});

await pool.query(`
  CREATE TABLE IF NOT EXISTS licence (code text PRIMARY KEY, product text NOT NULL, order_id text UNIQUE);
  INSERT INTO licence SELECT 'KEY-' || number, '${process.env.PRODUCT}' FROM generate_series(1, 100) AS number
    ON CONFLICT DO NOTHING`);

const goods = createGoods(
  { secret: process.env.WEBHOOK_SECRET, store: postgresStore(storePool) },
  takeKey,
);

async function takeKey({ id, product_id: product }: GoodsOrder) {
  // First the key that was set aside for this order before a crash, where there is one: it sorts before NULL.
  const { rows } = await pool.query<{ code: string }>(
    `UPDATE licence SET order_id = $1 WHERE code = (
       SELECT code FROM licence WHERE product = $2 AND (order_id = $1 OR order_id IS NULL)
       ORDER BY order_id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING code`,
    [id, product],
  );
  const [key] = rows;
  if (!key) throw new Error(`No key is left of the product ${product}.`);
  console.log(`Order ${id} has ${key.code}`);
  return key.code;
}

const server = createServer(toNodeHandler(goods));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/goods`);
});

process.once('SIGTERM', async () => {
  await goods.close({ server });
  await Promise.all([pool.end(), storePool.end()]);
  // Also where a connection has gone silent, which would keep the process alive.
  process.exit();
});

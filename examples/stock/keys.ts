/**
 * A shop of licence keys: the call of a dynamic product is answered with the next key of a PostgreSQL table. An
 * order gets one key, and the same one for each of its calls, even after a crash.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createGoods, type GoodsOrder } from 'storefront-webhooks/goods';
import { toNodeHandler } from 'storefront-webhooks/node';
import { postgresStore } from 'storefront-webhooks/postgres';

// An open connection can go silent. Without limits, a query on it would wait forever.
const options = {
  connectionString: process.env.DATABASE_URL,
  query_timeout: 5000,
  connectionTimeoutMillis: 5000,
  keepAlive: true,
};
const pool = new pg.Pool(options);
// The store has its own pool, so that it can renew leases while keys are taken through the other.
const storePool = new pg.Pool({ ...options, max: 4 });
// The server has closed an idle connection. The pool opens another one.
for (const each of [pool, storePool]) each.on('error', () => {});

await pool.query(
  'CREATE TABLE IF NOT EXISTS licence (code text PRIMARY KEY, product text NOT NULL, order_id text UNIQUE)',
);

const goods = createGoods(
  { secret: process.env.WEBHOOK_SECRET, store: postgresStore(storePool) },
  takeKey,
);

async function takeKey({ id, product_id: product }: GoodsOrder) {
  // A key that was taken for this order before a crash comes first, because it sorts before NULL.
  const { rows } = await pool.query<{ code: string }>(
    `UPDATE licence SET order_id = $1 WHERE code = (
       SELECT code FROM licence WHERE product = $2 AND (order_id = $1 OR order_id IS NULL)
       ORDER BY order_id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING code`,
    [id, product],
  );
  const [key] = rows;
  if (!key) throw new Error(`No key is left for the product ${product}.`);
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
  // A connection that has gone silent would keep the process alive.
  process.exit();
});

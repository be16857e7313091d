/**
 * A shop of licence keys: the call of a dynamic product is answered with the next keys of a PostgreSQL table. An
 * order gets as many keys as were ordered, and the same ones for each of its calls, even after a crash.
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

// `place` numbers the keys of an order. The UNIQUE keeps a query that was given up, and still runs, from taking
// keys beside the next one.
await pool.query(
  `CREATE TABLE IF NOT EXISTS licence (code text PRIMARY KEY, product text NOT NULL, order_id text, place int,
     UNIQUE (order_id, product, place))`,
);

const goods = createGoods(
  { secret: process.env.WEBHOOK_SECRET, store: postgresStore(storePool) },
  takeKeys,
);

async function takeKeys({ id, product_id: product, quantity }: GoodsOrder) {
  // A default of 1 would sell one key if the quantity is unreadable, such as the text "3": translate it in
  // `verify.order`.
  if (!product || !quantity || quantity < 1)
    throw new Error('This order has no product, or no quantity that is a positive number.');
  // The keys that were taken for this order before a crash.
  let { rows } = await pool.query<{ code: string }>(
    'SELECT code FROM licence WHERE order_id = $1 AND product = $2 ORDER BY place',
    [id, product],
  );
  if (rows.length === 0) ({ rows } = await take(id, product, quantity));
  if (rows.length === 0) throw new Error(`Too few keys are left for the product ${product}.`);
  console.log(`Order ${id} has ${rows.length} keys`);
  return rows.map(({ code }) => code).join('\n');
}

/** Takes all keys of an order, or none if too few are left. */
function take(id: string, product: string, quantity: number) {
  return pool.query<{ code: string }>(
    `WITH free AS (
       SELECT code FROM licence WHERE product = $2 AND order_id IS NULL LIMIT $3 FOR UPDATE SKIP LOCKED
     ), taken AS (SELECT code, row_number() OVER () AS place FROM free)
     UPDATE licence SET order_id = $1, place = taken.place FROM taken
     WHERE licence.code = taken.code AND (SELECT count(*) FROM free) = $3
     RETURNING licence.code`,
    [id, product, quantity],
  );
}

const server = createServer(toNodeHandler(goods));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/goods`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await goods.close({ server });
    await Promise.all([pool.end(), storePool.end()]);
    // A connection that has gone silent would keep the process alive.
    process.exit();
  });
}

/**
 * A shop that delivers each order exactly once: one PostgreSQL transaction moves the stock, records the sale,
 * and enters the delivery's key in the ledger.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createReceiver, type Order, type WebhookEvent } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';

// An open connection can go silent. Without limits, a query on it would wait forever.
const options = {
  connectionString: process.env.DATABASE_URL,
  query_timeout: 5000,
  connectionTimeoutMillis: 5000,
  keepAlive: true,
};
const pool = new pg.Pool(options);
// The store has its own pool, so that it can renew leases while handlers hold all connections of the other.
const storePool = new pg.Pool({ ...options, max: 4 });
// The server has closed an idle connection. The pool opens another one.
for (const each of [pool, storePool]) each.on('error', () => {});

await pool.query(`
  CREATE TABLE IF NOT EXISTS stock (product text PRIMARY KEY, pieces int NOT NULL CHECK (pieces >= 0));
  CREATE TABLE IF NOT EXISTS sale (delivery_key text PRIMARY KEY, order_id text NOT NULL, product text NOT NULL)`);

const ledger = postgresLedger(pool);

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: postgresStore(storePool),
}).onPaid(sell);

async function sell(event: WebhookEvent<string, Order>) {
  const { id, product_id: product, quantity } = event.payload;
  // A default of 1 would sell one piece if the quantity is unreadable, such as the text "3": translate it in `unwrap`.
  if (!quantity || quantity < 1)
    throw new Error('This order has no quantity that is a positive number.');
  const isNew = await ledger.transaction(pool, event, async (tx) => {
    const { rowCount } = await tx.query(
      'UPDATE stock SET pieces = pieces - $2 WHERE product = $1',
      [product, quantity],
    );
    if (rowCount !== 1) throw new Error(`The product ${product} is not in stock.`);
    await tx.query('INSERT INTO sale VALUES ($1, $2, $3)', [event.key, id, product]);
  });
  if (isNew) console.log(`Sold order ${id}`);
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
    await Promise.all([pool.end(), storePool.end()]);
    // A connection that has gone silent would keep the process alive.
    process.exit();
  });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { postgresStore } from 'storefront-webhooks/postgres';

const limits = { query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...limits });
// The message alone: an error of pg also has its client, with the key that cancels its queries.
pool.on('error', (error) => console.error(error.message));

// The shop may also sell other products.
const TOP_UP = process.env.TOP_UP_PRODUCT;
if (!TOP_UP) throw new Error('Set TOP_UP_PRODUCT to the id of the product that tops up a balance.');

// The balance of an account:
// SELECT currency, sum(value) FROM payment WHERE email = $1 AND NOT is_returned GROUP BY currency
await pool.query(
  `CREATE TABLE IF NOT EXISTS payment (order_id text PRIMARY KEY, email text NOT NULL,
     value numeric NOT NULL, currency text NOT NULL, is_returned boolean NOT NULL)`,
);

/** Whether an order was charged back or refunded (specification: Order status). */
const isReturned = ({ status }: Order) => status === 51 || status === 56;

// One transaction writes the payment and records that the handler is done: both happen, or neither.
const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET, store: postgresStore(pool) })
  .onPaid(({ payload, tx }) => enter(tx, payload, false), { name: 'credit', transaction: true })
  .on('order:updated', ({ payload, tx }) => enter(tx, payload, true), {
    name: 'debit',
    when: isReturned,
    oncePer: (order) => order.id,
    transaction: true,
  });

// The value is text, so that no cent is lost on its way into the database.
async function enter(tx: pg.PoolClient, order: Order, isReturned: boolean) {
  const { id, product_id, email, value, currency } = order;
  // An error is seen and the order is retried. A missing payment, or one of 0, would never be noticed.
  if (product_id === undefined) throw new Error('This order has no readable product.');
  if (product_id !== TOP_UP) return;
  if (!value || !currency) throw new Error('This order has no value or no currency.');
  await tx.query(
    `INSERT INTO payment VALUES ($1, lower($2), $3::numeric, $4, $5)
     ON CONFLICT (order_id) DO UPDATE SET is_returned = payment.is_returned OR excluded.is_returned`,
    [id, email, value, currency, isReturned],
  );
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
    await pool.end();
    // A connection that has gone silent would keep the process alive.
    process.exit();
  });
}

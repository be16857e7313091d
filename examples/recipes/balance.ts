import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { postgresStore } from 'storefront-webhooks/postgres';

const limits = { query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...limits });
pool.on('error', console.error);

await pool.query(
  'CREATE TABLE IF NOT EXISTS account (email text PRIMARY KEY, balance numeric NOT NULL)',
);

/** Whether an order was charged back or refunded (specification: Order status). */
const isReturned = ({ status }: Order) => status === 51 || status === 56;

// One transaction changes the balance and records that the order has: both happen, or neither.
const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET, store: postgresStore(pool) })
  .onPaid(({ payload, tx }) => add(tx, payload, 1), { name: 'credit', transaction: true })
  .on('order:updated', ({ payload, tx }) => add(tx, payload, -1), {
    name: 'debit',
    when: isReturned,
    oncePer: (order) => order.id,
    transaction: true,
  });

// The value is text, so that no cent is lost on its way into the database.
async function add(tx: pg.PoolClient, { email, value = '0' }: Order, sign: 1 | -1) {
  await tx.query(
    `INSERT INTO account VALUES (lower($1), $2::numeric * $3)
     ON CONFLICT (email) DO UPDATE SET balance = account.balance + excluded.balance`,
    [email, value, sign],
  );
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

process.once('SIGTERM', async () => {
  await receiver.close({ server });
  await pool.end();
  // A connection that has gone silent would keep the process alive.
  process.exit();
});

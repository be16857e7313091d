import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createReceiver, isPaid, type Order, type WebhookEvent } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';

const limits = { query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true };
const options = { connectionString: process.env.DATABASE_URL, ...limits };
const pool = new pg.Pool(options);
// Of its own, so that it can prolong leases while handlers hold all connections of the other one.
const storePool = new pg.Pool({ ...options, max: 4 });
for (const each of [pool, storePool]) each.on('error', console.error);

await pool.query(
  'CREATE TABLE IF NOT EXISTS account (email text PRIMARY KEY, balance numeric NOT NULL)',
);

const ledger = postgresLedger(pool);
const events = ['order:paid', 'order:updated'] as const;
/** Charged back, or refunded (specification: Order status). */
const isReturned = ({ status }: Order) => status === 51 || status === 56;

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: postgresStore(storePool),
})
  .on(events, (event) => add(event, 1), {
    name: 'credit',
    when: isPaid,
    oncePer: (order) => order.id,
  })
  .on(events, (event) => add(event, -1), {
    name: 'debit',
    when: isReturned,
    oncePer: (order) => order.id,
  });

async function add(event: WebhookEvent<string, Order>, sign: 1 | -1) {
  // Text, so that no cent is lost on its way into the database.
  const { email, value = '0' } = event.payload;
  // Entered in the ledger in the transaction that changes the balance: both happen, or neither.
  await ledger.transaction(pool, event, (tx) =>
    tx.query(
      `INSERT INTO account VALUES (lower($1), $2::numeric * $3)
       ON CONFLICT (email) DO UPDATE SET balance = account.balance + excluded.balance`,
      [email, value, sign],
    ),
  );
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

process.once('SIGTERM', async () => {
  await receiver.close({ server });
  await Promise.all([pool.end(), storePool.end()]);
  // Also where a connection has gone silent, which would keep the process alive.
  process.exit();
});

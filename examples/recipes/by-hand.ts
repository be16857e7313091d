import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { createReceiver, type Order } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { postgresStore } from 'storefront-webhooks/postgres';

const limits = { query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true };
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, ...limits });
// The message alone: an error of pg also has its client, with the key that cancels its queries.
pool.on('error', (error) => console.error(error.message));

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: postgresStore(pool),
}).onPaid(({ payload: order }) => deliver(order));

// Mark the orders that the old code has delivered as done. Marking an order twice changes nothing.
const { rows } = await pool.query<{ order_id: string }>('SELECT order_id FROM processed_orders');
for (const { order_id } of rows) await receiver.markDone('onPaid', order_id);

async function deliver(order: Order) {
  console.log(`Delivered order ${order.id}`);
}

const app = express();
// Keep this above express.json(): the signature covers the bytes as they were sent.
app.post('/webhooks', toExpress(receiver));
app.use(express.json());

const server = app.listen(process.env.PORT ?? 3000, () => {
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

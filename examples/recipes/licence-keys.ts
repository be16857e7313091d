import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'libsql';
import { createReceiver, type Order, type WebhookEvent } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteStore } from 'storefront-webhooks/sqlite';

const database = new Database(process.env.DATABASE_FILE ?? 'shop.db');

database.exec(`
  PRAGMA busy_timeout = 1000;
  CREATE TABLE IF NOT EXISTS licence (code TEXT PRIMARY KEY, product TEXT NOT NULL, order_id TEXT)`);

/** The products that have codes. The shop may also sell others. */
const PRODUCTS = ['prd_84c1d0'];

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: sqliteStore(database),
})
  // One transaction takes the codes and records that the order has them. Do not await inside it.
  .onPaid(
    ({ payload: { id, product_id, quantity }, tx }) => {
      // The order of a payment has the product `null`.
      if (product_id !== undefined && !PRODUCTS.includes(product_id ?? '')) return;
      // A default of 1 would sell one code if the quantity is unreadable, such as the text "3": translate it in
      // `unwrap`. SQLite treats a negative LIMIT as no limit.
      if (!product_id || !quantity || quantity < 1)
        throw new Error('This order has no product, or no quantity that is a positive number.');
      const { changes } = tx
        .prepare(
          `UPDATE licence SET order_id = ? WHERE code IN
           (SELECT code FROM licence WHERE product = ? AND order_id IS NULL LIMIT ?)`,
        )
        .run(id, product_id, quantity);
      // The error undoes the transaction. The order is retried, and succeeds once there is stock.
      if (Number(changes) < quantity) throw new Error('Too few codes are left.');
    },
    { transaction: true },
  )
  // Runs once the transaction is committed.
  .onPaid(sendCodes, { name: 'mail' });

/** Sends one mail, however often it is called, if the mailer takes an idempotency key, as most do. */
async function sendCodes({ payload: order, key, signal }: WebhookEvent<string, Order>) {
  const rows = database.prepare('SELECT code FROM licence WHERE order_id = ?').all(order.id);
  const codes = rows.map((row) => (row as { code: string }).code);
  // An order of another product has no codes, and neither has one that was marked as done.
  if (codes.length === 0) return;
  const response = await fetch(process.env.MAILER_URL ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ to: order.email, text: codes.join('\n') }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(8000)]),
  });
  if (!response.ok) throw new Error(`The mailer answered ${response.status}.`);
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await receiver.close({ server });
    database.close();
  });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'libsql';
import { createReceiver, isPaid, type Order, type WebhookEvent } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';

const database = new Database(process.env.DATABASE_FILE ?? 'shop.db');

database.exec(`
  PRAGMA busy_timeout = 1000;
  CREATE TABLE IF NOT EXISTS licence (code TEXT PRIMARY KEY, product TEXT NOT NULL, order_id TEXT)`);

const ledger = sqliteLedger();

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: sqliteStore(database),
}).on(['order:paid', 'order:updated'], sell, {
  name: 'sell',
  when: isPaid,
  oncePer: (order) => order.id,
});

async function sell(event: WebhookEvent<string, Order>) {
  const { id, product_id, email, quantity = 1 } = event.payload;
  // A negative limit would be none.
  if (!product_id || quantity < 1)
    throw new Error('This order is of no product, or of no quantity.');
  // The codes are taken and the order is entered in one transaction. Without an await in it.
  await ledger.transaction(database, event, (tx) => {
    const { changes } = tx
      .prepare(
        `UPDATE licence SET order_id = ? WHERE code IN
         (SELECT code FROM licence WHERE product = ? AND order_id IS NULL LIMIT ?)`,
      )
      .run(id, product_id, quantity);
    // Undoes the transaction. The order comes again, and is served once there is stock.
    if (Number(changes) < quantity) throw new Error('Too few codes are left.');
  });
  // Also where they were taken by an attempt that died before the mail.
  const rows = database.prepare('SELECT code FROM licence WHERE order_id = ?').all(id);
  const codes = rows.map((row) => (row as { code: string }).code);
  await event.once('mail', () => mail(email, codes, event));
}

/** A mailer that takes an idempotency key, as most do, sends one mail, however often it is asked. */
async function mail(to: string, codes: string[], { key, signal }: WebhookEvent<string, Order>) {
  const response = await fetch(process.env.MAILER_URL ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ to, text: codes.join('\n') }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(8000)]),
  });
  if (!response.ok) throw new Error(`The mailer answered ${response.status}.`);
}

const server = createServer(toNodeHandler(receiver));

server.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

process.once('SIGTERM', async () => {
  await receiver.close({ server });
  database.close();
});

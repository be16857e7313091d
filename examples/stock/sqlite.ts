/**
 * A shop that delivers each order exactly once: one SQLite transaction moves the stock, records the sale, and
 * enters the delivery's key in the ledger.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { createReceiver, type Order, type WebhookEvent } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';

const database = new DatabaseSync(process.env.DATABASE_FILE ?? 'shop.db');

database.exec(`
  PRAGMA busy_timeout = 1000;
  CREATE TABLE IF NOT EXISTS stock (product TEXT PRIMARY KEY, pieces INTEGER NOT NULL CHECK (pieces >= 0));
  CREATE TABLE IF NOT EXISTS sale (delivery_key TEXT PRIMARY KEY, order_id TEXT NOT NULL, product TEXT NOT NULL)`);

const ledger = sqliteLedger();

const receiver = createReceiver({
  secret: process.env.WEBHOOK_SECRET,
  store: sqliteStore(database),
}).onPaid(sell);

async function sell(event: WebhookEvent<string, Order>) {
  const { id, product_id: product, quantity } = event.payload;
  // A default of 1 would sell one piece if the quantity is unreadable, such as the text "3": translate it in `unwrap`.
  if (!product || !quantity || quantity < 1)
    throw new Error('This order has no product, or no quantity that is a positive number.');
  // Do not await inside the transaction, because all other writes wait for it.
  const isNew = await ledger.transaction(database, event, (tx) => {
    const { changes } = tx
      .prepare('UPDATE stock SET pieces = pieces - ? WHERE product = ?')
      .run(quantity, product);
    if (Number(changes) !== 1) throw new Error(`The product ${product} is not in stock.`);
    tx.prepare('INSERT INTO sale VALUES (?, ?, ?)').run(event.key, id, product);
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
    database.close();
  });
}

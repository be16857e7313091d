// The receiver of a shop on a SQLite file, for `--receiver`. Each command creates a new one.
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';

export let database: InstanceType<typeof Database>;

export function receiver() {
  const {
    SHOP_DATABASE = '',
    SHOP_SECRET = '',
    SHOP_BROKEN = '',
    SHOP_MS,
    SHOP_LOUD,
  } = process.env;
  database = new Database(SHOP_DATABASE);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000');
  database.exec('CREATE TABLE IF NOT EXISTS delivered (order_id TEXT)');
  const ledger = sqliteLedger();
  return createReceiver({ secret: SHOP_SECRET, store: sqliteStore(database) }).on(
    'order:paid',
    async (event) => {
      const { id } = event.payload;
      if (SHOP_BROKEN.includes(id)) throw new Error('no keys left');
      if (SHOP_LOUD) process.stdout.write(`written ${id}\n`);
      if (SHOP_MS !== undefined) {
        console.log(`delivering ${id}`);
        await sleep(Number(SHOP_MS));
      }
      await ledger.transaction(database, event, (tx) => {
        tx.prepare('INSERT INTO delivered VALUES (?)').run(id);
      });
    },
    { name: 'deliver' },
  );
}

/**
 * A receiver that sells paid orders in the transactions of its SQLite file, in a separate process. Takes and prints
 * lines as process.ts does.
 *
 *     <runtime> selling.mjs <driver> <file>
 */
import { createInterface } from 'node:readline';
import { createReceiver } from 'storefront-webhooks';
import { type SqliteDatabase, sqliteStore } from 'storefront-webhooks/sqlite';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { answer, type RemoteVerbs } from '../../support/remote-answer.js';
import { openDatabase } from './open-database.js';

const [driver = '', file = ''] = process.argv.slice(2);
const database = await openDatabase(driver, file);
const store = sqliteStore(database);
// The receiver's first line would stand between the results of the tests.
console.info = () => {};

const sales = {
  right: sell,
  'sells and throws': (tx: SqliteDatabase, order: string) => {
    sell(tx, order);
    throw new Error('out of licences');
  },
  'begins a transaction': (tx: SqliteDatabase, order: string) => {
    tx.exec('BEGIN');
    sell(tx, order);
  },
};

function sell(tx: SqliteDatabase, order: string): void {
  tx.exec(`INSERT INTO sold VALUES ('${order}')`);
}

const verbs: RemoteVerbs = {
  durable: () => store.durable,
  description: () => store.description,
  sql: (sql: string) => database.prepare(sql).all(),
  exec: (sql: string) => void database.exec(sql),
  deliverPaid: async (order: string, id: string, how: keyof typeof sales) => {
    const errors: string[] = [];
    const onError = (error: unknown) => void errors.push(`${error}`);
    const shop = createReceiver({ secret: SECRET, store, hooks: { onError } })
      .onPaid(({ tx, payload }) => sales[how](tx, payload.id), { transaction: true })
      .on('order:updated', () => {}, { name: 'mail' });
    // As a second event of an order, so that the handler records a step and not the delivery.
    const event = id.startsWith('update') ? 'order:updated' : 'order:paid';
    const { outcome, ran } = await deliver(shop, paidOrder({ id: order }), { id, event });
    return { outcome, ran, errors };
  },
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  process.stdout.write(await answer(line, () => verbs));
});

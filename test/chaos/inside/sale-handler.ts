import type { Receiver } from 'storefront-webhooks';
import { PRODUCTS } from './effects.js';
import { pass } from './faults-here.js';
import { numberOf, pause } from './handlers.js';
import { storeName } from './open.js';

interface PostgresTx {
  query(text: string, values: unknown[]): Promise<unknown>;
}

interface SqliteTx {
  prepare(sql: string): { run(...values: unknown[]): unknown };
}

const TAKE = 'UPDATE stock SET remaining = remaining - 1 WHERE product = ';
const SELL = 'INSERT INTO sale VALUES ';

/** Sells one for each delivery in the store's transaction: no ledger and no constraint prevents selling two. */
export function registerSale(receiver: Receiver): void {
  const options = { name: 'sale', transaction: true } as const;
  if (storeName === 'sqlite') {
    receiver.on(
      'order:paid',
      ({ id, tx }) => {
        pass('before-sale');
        const product = numberOf(id) % PRODUCTS;
        const database = tx as SqliteTx;
        database.prepare(`${TAKE} ?`).run(product);
        database.prepare(`${SELL} (?, ?)`).run(id, product);
        pass('in-transaction');
      },
      options,
    );
    return;
  }
  receiver.on(
    'order:paid',
    async ({ id, tx }) => {
      pass('before-sale');
      const product = numberOf(id) % PRODUCTS;
      const client = tx as PostgresTx;
      await client.query(`${TAKE} $1`, [product]);
      await pause();
      await client.query(`${SELL} ($1, $2)`, [id, product]);
      pass('in-transaction');
      await pause();
    },
    options,
  );
}

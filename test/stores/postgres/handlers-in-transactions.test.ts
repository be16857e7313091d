import { createReceiver } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { openPglite } from '../../support/pglite.js';
import { describeTransactions, TABLE } from '../transactions.js';

describeTransactions('PGlite', async () => {
  const database = await openPglite();
  await database.exec(TABLE);
  return {
    store: postgresStore(database),
    other: postgresStore(database),
    run: (tx, statement) => tx.query(statement),
    exec: (statements) => database.exec(statements),
    sold: async () => (await database.query('SELECT * FROM sold')).rows.length,
  };
});

test('a handler that PostgreSQL makes repeat a transaction gets the payload as it came', async () => {
  const store = postgresStore(await openPglite());
  const seen: string[] = [];
  const receiver = createReceiver({ secret: SECRET, store }).on(
    'order:paid',
    async ({ tx, payload }) => {
      seen.push(payload.id);
      payload.id = 'changed';
      if (seen.length === 1)
        await tx.query("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$");
    },
    { name: 'sell', transaction: true },
  );
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(seen).toEqual(['ord_1', 'ord_1']);
});

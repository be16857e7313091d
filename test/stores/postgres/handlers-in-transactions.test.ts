import { createReceiver } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { expect, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { openPglite } from '../../support/pglite.js';
import { describeTransactions, TABLE } from '../transactions.js';
import { newDelivery } from './claiming.js';

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

test('a handler in a transaction keeps the limits of its connection', async () => {
  const database = await openPglite();
  await database.exec(`SET lock_timeout = '7s'`);
  const limits: unknown[] = [];
  const receiver = createReceiver({ secret: SECRET, store: postgresStore(database) }).on(
    'order:paid',
    async ({ tx }) => {
      limits.push(...(await tx.query('SHOW lock_timeout')).rows);
    },
    { name: 'sell', oncePer: ({ id }) => id, transaction: true },
  );
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(limits).toEqual([{ lock_timeout: '7s' }]);
});

test('a delivery that a claim finds dead is on the disk before the answer', async () => {
  const database = await openPglite();
  const asked: string[] = [];
  const query = (text: string, values?: unknown[]) => {
    asked.push(text);
    return database.query<Record<string, unknown>>(text, values);
  };
  const store = postgresStore({ query });
  const delivery = newDelivery();
  const terms = { leaseMs: 0, keepMs: 60_000, maxCrashes: 1, isTransaction: true };
  expect(await store.claim(delivery, { ...terms, owner: 'a' })).toMatchObject({ attempt: 1 });
  expect(asked.at(-1)).toContain("'synchronous_commit', 'off'");
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await store.claim(delivery, { ...terms, owner: 'b' })).toEqual({ state: 'dead' });
  expect(asked.at(-1)).not.toContain('synchronous_commit');
});

import { type PostgresClient, postgresLedger } from 'storefront-webhooks/postgres';
import { expect, test } from 'vitest';
import { openPglite } from '../../support/pglite.js';
import { newKey } from './claiming.js';

const UNDO = new Error('undo');

/** Tests a ledger in a transaction of any driver. */
async function describeTransactions(
  ledger: ReturnType<typeof postgresLedger>,
  begin: (run: (tx: PostgresClient) => Promise<void>) => Promise<unknown>,
) {
  const effect = { key: newKey(), handler: 'ship\u0000' };
  const enter = async (of = effect, error?: Error) => {
    let isNew: boolean | undefined;
    const run = begin(async (tx) => {
      isNew = await ledger.once(tx, of);
      if (error) throw error;
    });
    if (error) await expect(run).rejects.toBe(error);
    else await run;
    return isNew;
  };
  // After a rollback, the effect is not entered.
  expect(await enter(effect, UNDO)).toBe(true);
  expect(await enter()).toBe(true);
  expect(await enter()).toBe(false);
  expect(await enter({ ...effect, handler: 'mail' })).toBe(true);
  expect(await enter({ ...effect, key: newKey() })).toBe(true);
}

test('the ledger in PGlite rejects a client without a transaction, even if it is wrapped', async () => {
  const database = await openPglite();
  const ledger = postgresLedger(database);
  const wrapped: PostgresClient = { query: (text, values) => database.query(text, values) };
  const effect = { key: newKey(), handler: 'ship' };
  await expect(ledger.once(wrapped, effect)).rejects.toMatchObject({ code: 'transaction_missing' });
  await database.query('BEGIN');
  expect(await ledger.once(wrapped, effect)).toBe(true);
  await database.query('COMMIT');
});

test('the ledger in PGlite enters an effect once', async () => {
  const database = await openPglite();
  const ledger = postgresLedger(database);
  await describeTransactions(ledger, (run) => database.transaction(run));
});

import {
  type PostgresClient,
  postgresLedger,
  type TransactionSource,
} from 'storefront-webhooks/postgres';
import { describe, expect, test } from 'vitest';
import { openPglite } from '../../support/pglite.js';
import { newKey } from './claiming.js';

const SOLD = 'CREATE TABLE sold (amount integer NOT NULL CHECK (amount < 10) DEFAULT 0)';
const SELL = 'UPDATE sold SET amount = amount + 1';
const UNDO = new Error('undo');
const newEffect = () => ({ key: newKey(), handler: 'ship' });

/** A driver, and a few statements through it. */
interface Driver<Tx extends PostgresClient> {
  readonly source: TransactionSource<Tx>;
  readonly client: PostgresClient;
  run(tx: Tx, statement: string): PromiseLike<unknown>;
  sold(): Promise<number>;
  /** The number of its connections that are idle in a transaction. */
  left(): Promise<number>;
}

async function describeDriver<Tx extends PostgresClient>(driver: Driver<Tx>): Promise<void> {
  const { source, client, run, sold, left } = driver;
  const ledger = postgresLedger(client);
  const sell = (tx: Tx) => run(tx, SELL);

  const effect = newEffect();
  const before = await sold();
  const undone = ledger.transaction(source, effect, async (tx) => {
    await sell(tx);
    throw UNDO;
  });
  await expect(undone).rejects.toBe(UNDO);
  expect(await sold()).toBe(before);
  expect(await ledger.transaction(source, effect, sell)).toBe(true);
  expect(await ledger.transaction(source, effect, sell)).toBe(false);
  expect(await sold()).toBe(before + 1);

  // The error of a failed statement is thrown. If the work catches it, nothing is entered.
  const failing = newEffect();
  const broken = (tx: Tx) => run(tx, 'UPDATE sold SET amount = 99');
  await expect(ledger.transaction(source, failing, broken)).rejects.toMatchObject({
    code: '23514',
  });
  const swallowing = async (tx: Tx) => {
    await sell(tx);
    await broken(tx).then(undefined, () => {});
  };
  await expect(ledger.transaction(source, failing, swallowing)).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:25P02|23514)$/),
  });
  expect(await sold()).toBe(before + 1);

  // The work must not end its own transaction.
  const ending = async (tx: Tx) => {
    await run(tx, 'ROLLBACK');
  };
  await expect(ledger.transaction(source, failing, ending)).rejects.toThrow();
  expect(await ledger.transaction(source, failing, sell)).toBe(true);
  expect(await sold()).toBe(before + 2);

  // An invalid effect is rejected before a transaction begins.
  const keyless = ledger.transaction(source, { key: 'order 1', handler: 'ship' }, sell);
  await expect(keyless).rejects.toMatchObject({ name: 'UsageError', code: 'key_invalid' });
  expect(await left()).toBe(0);
}

describe('a transaction of the ledger in PGlite', () => {
  test('runs an effect once', async () => {
    const database = await openPglite();
    await database.exec(`${SOLD}; INSERT INTO sold DEFAULT VALUES`);
    await describeDriver({
      source: database,
      client: database,
      run: (tx, statement) => tx.query(statement),
      sold: async () => {
        const { rows } = await database.query<{ amount: number }>('SELECT amount FROM sold');
        return rows[0]?.amount ?? -1;
      },
      left: async () => 0,
    });
  });
});

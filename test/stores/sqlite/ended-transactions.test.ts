import { createHash } from 'node:crypto';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { type SqliteDatabase, sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';

function open() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  database.exec(`CREATE TABLE sold (order_id TEXT UNIQUE); CREATE TABLE closed (day TEXT);
    CREATE TRIGGER refuse BEFORE INSERT ON closed BEGIN SELECT RAISE(ROLLBACK, 'closed'); END`);
  return database;
}

/** As node:sqlite before Node 22.16, which does not show whether a transaction is open. */
function withoutState(database: Database.Database): SqliteDatabase {
  return { exec: (sql) => database.exec(sql), prepare: (sql) => database.prepare(sql) };
}

const effect = { key: createHash('sha256').update('ord_1').digest('hex'), handler: 'ship' };
const sell = (tx: SqliteDatabase) => tx.exec("INSERT INTO sold VALUES ('ord_1')");

const ends: readonly (readonly [string, (tx: SqliteDatabase) => void])[] = [
  ['ROLLBACK', (tx) => tx.exec('ROLLBACK')],
  ['ROLLBACK and BEGIN', (tx) => tx.exec('ROLLBACK; BEGIN')],
  [
    'a conflict with OR ROLLBACK',
    (tx) =>
      expect(() => tx.exec("INSERT OR ROLLBACK INTO sold VALUES ('ord_1')")).toThrow('UNIQUE'),
  ],
  [
    'a trigger with RAISE(ROLLBACK)',
    (tx) => expect(() => tx.exec("INSERT INTO closed VALUES ('Sunday')")).toThrow('closed'),
  ],
];

describe.each<[string, (database: Database.Database) => SqliteDatabase]>([
  ['a driver that shows whether a transaction is open', (database) => database],
  ['a driver that does not show that', withoutState],
])('through %s', (_, through) => {
  const start = () => {
    const database = open();
    const sold = () => database.prepare('SELECT * FROM sold').all().length;
    return { client: through(database), sold };
  };

  test.each(ends)('a handler whose transaction was ended by %s fails', async (_, end) => {
    const { client, sold } = start();
    const onError = vi.fn();
    let isEnding = true;
    const shop = createReceiver({
      secret: SECRET,
      store: sqliteStore(client),
      hooks: { onError },
    }).onPaid(
      ({ tx }) => {
        sell(tx);
        if (isEnding) end(tx);
      },
      { transaction: true },
    );
    for (const _ of ['once', 'twice']) {
      expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'failed' });
      expect(onError.mock.lastCall).toMatchObject([{ code: 'transaction_missing' }, {}]);
    }
    expect(sold()).toBe(0);
    isEnding = false;
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(sold()).toBe(1);
  });

  test.each(ends)(
    'work of a ledger whose transaction was ended by %s is not entered',
    async (_, end) => {
      const { client, sold } = start();
      const ledger = sqliteLedger();
      const ending = ledger.transaction(client, effect, (tx) => {
        sell(tx);
        end(tx);
      });
      await expect(ending).rejects.toMatchObject({ code: 'transaction_missing' });
      expect(await ledger.transaction(client, effect, sell)).toBe(true);
      expect(sold()).toBe(1);
    },
  );

  test('a savepoint of the work may stay open', async () => {
    const { client, sold } = start();
    const work = (tx: SqliteDatabase) => {
      tx.exec('SAVEPOINT part');
      sell(tx);
    };
    expect(await sqliteLedger().transaction(client, effect, work)).toBe(true);
    expect(sold()).toBe(1);
  });

  test('once of a ledger enters an effect only in a transaction', () => {
    const { client } = start();
    const ledger = sqliteLedger();
    const missing = expect.objectContaining({ code: 'transaction_missing' });
    expect(() => ledger.once(client, effect)).toThrow(missing);
    client.exec('BEGIN');
    expect([ledger.once(client, effect), ledger.once(client, effect)]).toEqual([true, false]);
    client.exec('ROLLBACK');
    expect(() => ledger.once(client, effect)).toThrow(missing);
  });
});

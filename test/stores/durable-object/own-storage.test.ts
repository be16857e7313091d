import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { storageStore } from 'storefront-webhooks/cloudflare';
import { expect, onTestFinished, test } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { describeTransactions, TABLE } from '../transactions.js';
import { StorageOverLibsql } from './over-libsql.js';

function open() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  database.exec(TABLE);
  const storage = new StorageOverLibsql(database);
  const sold = () => database.prepare('SELECT order_id FROM sold').all().length;
  return { database, storage, sold };
}

describeTransactions(
  'the storage of a Durable Object',
  async () => {
    const { database, storage, sold } = open();
    return {
      store: storageStore(storage),
      other: storageStore(storage),
      run: (tx, statement) => tx.sql.exec(statement),
      exec: async (statements) => database.exec(statements),
      sold: async () => sold(),
    };
  },
  { isSynchronous: true },
);

test('the claim is written before the handler begins', async () => {
  const { storage } = open();
  const written: string[] = [];
  storage.onSync = () => written.push('claim');
  const shop = createReceiver({ secret: SECRET, store: storageStore(storage) }).onPaid(
    () => void written.push('handler'),
    { transaction: true },
  );
  expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(written).toEqual(['claim', 'handler']);
});

test('a handler that awaits is rejected when it is registered, and undone when it runs', async () => {
  const { storage, sold } = open();
  const hooks = { onError() {} };
  const shop = createReceiver({ secret: SECRET, store: storageStore(storage), hooks });
  const options = { transaction: true } as const;
  expect(() => shop.onPaid(async () => {}, options)).toThrow(/returns no promise/);
  shop.onPaid(({ tx, payload: { id } }) => {
    tx.sql.exec('INSERT INTO sold VALUES (?)', id);
    return Promise.resolve();
  }, options);
  expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
  expect(sold()).toBe(0);
});

test.each([
  ['nothing', undefined],
  [
    'the state instead of its storage',
    { storage: new StorageOverLibsql(new Database(':memory:')) },
  ],
])('is refused with the line to change: %s', (_, storage) => {
  expect(() => storageStore(storage as never)).toThrow(
    expect.objectContaining({
      code: 'client_invalid',
      message: expect.stringMatching(/this\.ctx\.storage.*new_sqlite_classes/),
    }),
  );
});

test('a receiver accepts no body that does not fit in a row', () => {
  const store = storageStore(open().storage);
  expect(() => createReceiver({ secret: 'a secret', store, limit: 1_900_001 })).toThrow(
    'at most 1900000',
  );
});

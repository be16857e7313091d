import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

test('a store creates its tables again if they are gone, and only one call fails', async () => {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const delivery = newDelivery();
  expect(await store.claim(delivery, TERMS)).toMatchObject({ state: 'acquired' });
  // For example, the operator has emptied the database.
  database.exec('DROP TABLE webhook_delivery');
  await expect(store.claim(delivery, TERMS)).rejects.toThrow('no such table');
  expect(await store.claim(delivery, TERMS)).toMatchObject({ state: 'acquired', attempt: 1 });
});

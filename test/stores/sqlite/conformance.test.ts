import { join } from 'node:path';
import Database from 'libsql';
import type { IdempotencyStore } from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterAll, beforeAll } from 'vitest';
import { describeStore } from '../suite.js';
import { newFolder } from './remote.js';

let database: InstanceType<typeof Database>;
let store: IdempotencyStore;
beforeAll(() => {
  database = new Database(join(newFolder(), 'webhooks.db'));
  store = sqliteStore(database);
});
afterAll(() => void database.close());

describeStore(
  'SQLite through libsql',
  async () => {
    await store.purge(0);
    database.exec('DELETE FROM webhook_delivery');
    return store;
  },
  { age: () => void database.exec('UPDATE webhook_delivery SET not_before = not_before - 120000') },
);

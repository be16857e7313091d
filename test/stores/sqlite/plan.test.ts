import { readFileSync } from 'node:fs';
import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { STATEMENTS } from '../../../src/stores/sqlite/statements.js';

const INDEX =
  'CREATE INDEX webhook_delivery_unfinished ON webhook_delivery (state, key) WHERE body IS NOT NULL';

async function open(setUp = '') {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  database.exec(setUp);
  await sqliteStore(database).count({ state: 'dead' });
  return database;
}

test.each(['dead', 'stalled', 'failing', 'countDead', 'countStalled', 'countFailing'] as const)(
  'the statement of %s uses an index that omits done deliveries and stored goods',
  async (name) => {
    const database = await open();
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${STATEMENTS[name].replaceAll('?', 'NULL')}`)
      .all();
    expect(JSON.stringify(plan)).toContain('INDEX webhook_delivery_unfinished');
  },
);

test('a file of layout 2 gets that index instead of its own', async () => {
  const database = await open(readFileSync('test/stores/layouts/2.sqlite.sql', 'utf8'));
  const indexes = database
    .prepare(`SELECT sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%(state, key)%'`)
    .all();
  expect(indexes).toEqual([{ sql: INDEX }]);
});

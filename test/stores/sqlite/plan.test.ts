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

test.each([
  ['without statistics', ''],
  ['with statistics', 'ANALYZE'],
])(
  'a purge reads only the first due deliveries, and not every unfinished one, %s',
  async (_, analyze) => {
    const database = await open();
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO webhook_delivery
        (key, scope, delivery_id, event, received_at, body, state, owner, fence, not_before, purge_at)
      SELECT i, '', '', 'order:paid', 1, x'00', 'retry', '', 1, 1, 9e15 FROM n`);
    database.exec(analyze);
    for (const name of ['abandon', 'forget'] as const) {
      const plan = database
        .prepare(`EXPLAIN QUERY PLAN ${STATEMENTS[name].replaceAll('?', '500')}`)
        .all();
      expect(JSON.stringify(plan)).toContain('INDEX webhook_delivery_purge (purge_at<?)');
      expect(JSON.stringify(plan)).not.toMatch(/webhook_delivery_unfinished|TEMP B-TREE|SCAN/);
    }
  },
);

test('a file of layout 2 gets that index instead of its own', async () => {
  const database = await open(readFileSync('test/stores/layouts/2.sqlite.sql', 'utf8'));
  const indexes = database
    .prepare(`SELECT sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%(state, key)%'`)
    .all();
  expect(indexes).toEqual([{ sql: INDEX }]);
});

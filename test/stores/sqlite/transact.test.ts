import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { STATEMENTS } from '../../../src/stores/sqlite/statements.js';
import { prepareAll } from '../../../src/stores/sqlite/transact.js';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

/** A store with a claimed delivery, and what its transaction needs. */
async function claimed() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const { key, ...delivery } = newDelivery();
  const claim = await store.claim({ key, ...delivery }, TERMS);
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  const { fence } = claim;
  const terms = { key, fence, effect: undefined, record: { keepMs: 60_000 }, timeoutMs: 60_000 };
  return { database, store, key, terms };
}

test('a transaction whose lease ends while it waits for its turn runs nothing', async () => {
  const { store, key, terms } = await claimed();
  const lease = new AbortController();
  const work = vi.fn();
  const begin = async () => {
    // As if the time limit of the handlers had passed. No other process has taken the delivery over.
    lease.abort(new Error('too late'));
    return true;
  };
  const running = store.transactions?.run({ ...terms, signal: lease.signal, begin }, work);
  await expect(running).rejects.toThrow('too late');
  expect(work).not.toHaveBeenCalled();
  expect(await store.isDone?.(key)).toBe(false);
});

test('a transaction that cannot record its delivery is rolled back', async () => {
  const { database, store, key, terms } = await claimed();
  database.exec('CREATE TABLE sold (id TEXT)');
  const { signal } = new AbortController();
  const running = store.transactions?.run({ ...terms, signal, begin: async () => true }, () => {
    database.prepare("INSERT INTO sold VALUES ('ord_1')").run();
    database.prepare('DELETE FROM webhook_delivery WHERE key = ?').run(key);
  });
  await expect(running).rejects.toMatchObject({ code: 'transaction_missing' });
  const count = (table: string) => database.prepare(`SELECT * FROM ${table}`).all().length;
  expect([count('sold'), count('webhook_delivery')]).toEqual([0, 1]);
});

test('every statement returns rows, because better-sqlite3 runs no other with all()', () => {
  const all = new Set(Object.values(STATEMENTS));
  prepareAll((sql) => {
    all.add(sql);
    return { all: () => [] };
  });
  for (const sql of all) expect(sql).toMatch(/^\s*(?:SELECT|WITH)\b|\bRETURNING\b/);
  expect(all.size).toBeGreaterThan(10);
});

import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

test('a transaction whose lease ends while it waits for its turn runs nothing', async () => {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const { key, ...delivery } = newDelivery();
  const claim = await store.claim({ key, ...delivery }, TERMS);
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  const { fence } = claim;
  const lease = new AbortController();
  const work = vi.fn();
  const terms = { key, fence, effect: undefined, record: { keepMs: 60_000 }, timeoutMs: 60_000 };
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

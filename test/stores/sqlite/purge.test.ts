import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { newDelivery } from '../suite.js';

test('a purge ends at its limit, of stalled and done deliveries together', async () => {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const terms = { owner: 'a', leaseMs: -120_000, keepMs: 0, maxCrashes: 5 };
  const claims = [];
  for (let at = 0; at < 5; at++) {
    const delivery = newDelivery();
    claims.push({ ...(await store.claim(delivery, terms)), key: delivery.key });
  }
  for (const claim of claims.slice(2)) {
    if (claim.state === 'acquired') await store.complete(claim.key, claim.fence, 0);
  }
  const count = (state: string) =>
    database.prepare('SELECT 1 FROM webhook_delivery WHERE state = ?').all(state).length;
  expect([count('leased'), count('done')]).toEqual([2, 3]);
  // Both stalled ones have been due for longest, so one place is left.
  expect(await store.purge(3)).toBe(3);
  expect([count('leased'), count('dead'), count('done')]).toEqual([0, 2, 2]);
  expect(await store.purge(3)).toBe(2);
  expect([count('dead'), count('done')]).toEqual([2, 0]);
});

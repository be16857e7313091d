import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

/** Opens a store that holds a claimed delivery with a proof and a completed step. */
async function claimed() {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const delivery = { ...newDelivery(), proof: '{"signature":"ab12","url":"/webhooks"}' };
  const claim = await store.claim(delivery, TERMS);
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  await store.completeStep(delivery.key, claim.fence, '["mail"]', 'buyer@example.com');
  const row = () => database.prepare('SELECT * FROM webhook_delivery').get();
  return { store, delivery, fence: claim.fence, row };
}

const NOTHING_LEFT = {
  state: 'done',
  owner: '',
  body: null,
  proof: null,
  handlers: '{}',
  error: null,
};

test('a row keeps the body, the proof and the steps of a delivery until it is done, and not longer', async () => {
  const { store, delivery, fence, row } = await claimed();
  expect(row()).toMatchObject({ state: 'leased', owner: 'a', proof: delivery.proof });
  expect(row()).toMatchObject({ handlers: expect.stringContaining('buyer@example.com') });
  expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
  expect(row()).toMatchObject(NOTHING_LEFT);
});

test('a row of a delivery that a transaction completes keeps nothing either', async () => {
  const { store, delivery, fence, row } = await claimed();
  const terms = {
    ...{ key: delivery.key, fence, effect: undefined, record: { keepMs: 60_000 } },
    ...{ timeoutMs: 60_000, signal: new AbortController().signal, begin: async () => true },
  };
  expect(await store.transactions?.run(terms, () => {})).toEqual({ state: 'done' });
  expect(row()).toMatchObject(NOTHING_LEFT);
});

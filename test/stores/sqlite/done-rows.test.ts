import Database from 'libsql';
import { d1Store } from 'storefront-webhooks/cloudflare';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { D1OverLibsql } from '../d1/over-libsql.js';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

/** Opens a store that holds a claimed delivery with a proof and a completed step. */
async function claimed(keepMs = 60_000) {
  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  const delivery = { ...newDelivery(), proof: '{"signature":"ab12","url":"/webhooks"}' };
  const claim = await store.claim(delivery, { ...TERMS, keepMs });
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  await store.completeStep(delivery.key, claim.fence, '["mail"]', 'buyer@example.com');
  const row = () => database.prepare('SELECT * FROM webhook_delivery').get();
  return { database, store, delivery, fence: claim.fence, row };
}

function transactTerms({ key }: { readonly key: string }, fence: number, keepMs: number) {
  return {
    ...{ key, fence, effect: undefined, record: { keepMs } },
    ...{ timeoutMs: 60_000, signal: new AbortController().signal, begin: async () => true },
  };
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
  const terms = transactTerms(delivery, fence, 60_000);
  expect(await store.transactions?.run(terms, () => {})).toEqual({ state: 'done' });
  expect(row()).toMatchObject(NOTHING_LEFT);
});

describe('a delivery that is kept for longer than a date can say is kept forever', () => {
  // As a number of milliseconds since 1970, its end would be beyond 2^53.
  const LONG = 1e16;

  test('if a claim says so', async () => {
    expect((await claimed(LONG)).row()).toMatchObject({ purge_at: null });
  });

  test('if its completion says so', async () => {
    const { store, delivery, fence, row } = await claimed();
    await store.complete(delivery.key, fence, LONG);
    expect(row()).toMatchObject({ state: 'done', purge_at: null });
  });

  test('if a transaction says so', async () => {
    const { store, delivery, fence, row } = await claimed();
    await store.transactions?.run(transactTerms(delivery, fence, LONG), () => {});
    expect(row()).toMatchObject({ state: 'done', purge_at: null });
  });

  test('if a batch of D1 says so', async () => {
    const { database, delivery, fence, row } = await claimed();
    const { transactions } = d1Store(new D1OverLibsql(database));
    await transactions?.run(transactTerms(delivery, fence, LONG), () => {});
    expect(row()).toMatchObject({ state: 'done', purge_at: null });
  });
});

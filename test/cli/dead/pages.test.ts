import { randomUUID } from 'node:crypto';
import { type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { deliveriesIn, find, findNow } from '../../../src/cli/dead/pages.js';
import { STATES } from '../../../src/cli/dead/states.js';
import { forward } from '../../../src/stores/contract.js';

const newKey = () => randomUUID().replaceAll('-', '').repeat(2);

/** Leaves a delivery whose handler has failed in a store, and returns its key. */
async function leave(
  store: IdempotencyStore,
  { key = newKey(), scope = 'shop', permanent = true } = {},
): Promise<string> {
  const delivery = { key, scope, id: 'whl_1', event: 'order:paid', receivedAt: 0 };
  const terms = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };
  const claim = await store.claim({ ...delivery, body: new Uint8Array(2) }, terms);
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  await store.fail(key, claim.fence, { permanent, error: 'no stock' });
  return key;
}

async function leaveMany(store: IdempotencyStore, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) keys.push(await leave(store));
  return keys.sort();
}

async function keysIn(...args: Parameters<typeof deliveriesIn>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of deliveriesIn(...args)) keys.push(key);
  return keys;
}

describe('the pages of a store', () => {
  test.each([
    [0, 1],
    [1, 1],
    [99, 1],
    [100, 2],
    [101, 2],
    [200, 3],
    [301, 4],
  ])('yield each of %i deliveries once, in %i requests', async (count, requests) => {
    const store = memoryStore();
    const keys = await leaveMany(store, count);
    const list = vi.fn(store.list);
    expect(await keysIn(forward(store, { list }), ['dead'], undefined)).toEqual(keys);
    expect(list).toHaveBeenCalledTimes(requests);
  });

  test('yield the deliveries of one state after those of another, and of one scope only', async () => {
    const store = memoryStore();
    const dead = await leaveMany(store, 101);
    const failing = await leave(store, { permanent: false });
    const other = await leave(store, { scope: 'other' });
    expect(await keysIn(store, STATES, 'shop')).toEqual([...dead, failing]);
    expect(await keysIn(store, ['failing'], undefined)).toEqual([failing]);
    expect(await keysIn(store, ['dead'], 'other')).toEqual([other]);
  });
});

describe('a delivery that is read again', () => {
  const FIRST = '0'.repeat(64);
  const SECOND = `${'0'.repeat(63)}1`;
  const AFTER_CARRY = `${'0'.repeat(62)}10`;

  test.each([FIRST, SECOND, AFTER_CARRY, 'f'.repeat(64)])(
    'is found by its key: %s',
    async (key) => {
      const store = memoryStore();
      for (const one of [FIRST, SECOND, AFTER_CARRY, 'f'.repeat(64)])
        await leave(store, { key: one });
      expect(await findNow(store, key, ['dead'])).toMatchObject({ key, state: 'dead' });
    },
  );

  test('is not found after its state has changed, and no other delivery is returned instead', async () => {
    const store = memoryStore();
    for (const key of [FIRST, SECOND, AFTER_CARRY]) await leave(store, { key });
    await store.redrive(SECOND);
    expect(await findNow(store, SECOND, ['dead', 'stalled'])).toBeUndefined();
  });
});

test('a delivery is found by its whole key in one request for each state', async () => {
  const store = memoryStore();
  await leaveMany(store, 301);
  const key = await leave(store, { key: 'f'.repeat(64), permanent: false });
  const list = vi.fn(store.list);
  expect(await find(forward(store, { list }), key)).toMatchObject({ key, state: 'failing' });
  expect(list).toHaveBeenCalledTimes(STATES.length);
});

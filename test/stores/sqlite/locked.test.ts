import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

afterEach(() => {
  vi.useRealTimers();
});

/** Opens a file twice: for a program that takes the lock, and for the store. */
function openTwice() {
  const folder = mkdtempSync(join(tmpdir(), 'locked-'));
  const [holder, database] = [0, 1].map(() => new Database(join(folder, 'shop.db')));
  if (!holder || !database) throw new Error('SQLite opened nothing');
  onTestFinished(() => {
    holder.close();
    database.close();
    rmSync(folder, { recursive: true });
  });
  return { holder, database };
}

/** Lets time pass. Each attempt at the lock runs in its own turn, between two waits. */
async function pass(ms: number) {
  for (let passed = 0; passed < ms; passed += 20) {
    await vi.advanceTimersByTimeAsync(20);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const holdTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

test('a call waits 5 s for a lock that is never released, and then throws an error', async () => {
  const { holder, database } = openTwice();
  const store = sqliteStore(database);
  const delivery = newDelivery();
  const claimed = await store.claim(delivery, TERMS);
  if (claimed.state !== 'acquired') throw new Error('It was not claimed.');
  const { fence } = claimed;

  holdTime();
  holder.exec('BEGIN IMMEDIATE');
  let outcome: unknown = 'waits';
  void store.complete(delivery.key, fence, 60_000).then(
    (done) => {
      outcome = done;
    },
    (error: unknown) => {
      outcome = error;
    },
  );
  await pass(4_800);
  expect(outcome).toBe('waits');
  await pass(400);
  expect(outcome).toMatchObject({ message: expect.stringContaining('locked') });

  holder.exec('ROLLBACK');
  expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
  expect(await store.claim(delivery, TERMS)).toMatchObject({ state: 'done' });
});

test('a call that only reads does not wait for the lock, and the calls that write do', async () => {
  const { holder, database } = openTwice();
  const delivery = newDelivery();
  // Also creates the tables, which needs the lock.
  await sqliteStore(holder).claim(delivery, TERMS);
  const store = sqliteStore(database);
  holdTime();
  holder.exec('BEGIN IMMEDIATE');
  const reads = Promise.all([
    store.count({ state: 'dead' }),
    store.list({ state: 'dead', limit: 10 }),
    store.isDone?.(delivery.key),
  ]);
  const states: string[] = [];
  void reads.then(() => states.push('read'));
  await new Promise((resolve) => setImmediate(resolve));
  void store.claim(newDelivery(), TERMS).then(({ state }) => states.push(state));
  await pass(1_000);
  expect(states).toEqual(['read']);
  expect(await reads).toEqual([0, [], false]);
  holder.exec('ROLLBACK');
  await pass(100);
  expect(states).toEqual(['read', 'acquired']);
});

test('a transaction that gets no lock is unavailable, and its handler has not failed', async () => {
  const { holder, database } = openTwice();
  const store = sqliteStore(database);
  const claim = vi.spyOn(store, 'claim');
  const handler = vi.fn();
  const onError = vi.fn();
  const hooks = { onError, onRejected() {} };
  const shop = createReceiver({ secret: SECRET, store, hooks });
  shop.on('order:paid', () => handler(), { name: 'sell', transaction: true });
  holdTime();
  claim.mockImplementationOnce(async (...args) => {
    const claimed = await store.claim(...args);
    holder.exec('BEGIN IMMEDIATE');
    return claimed;
  });
  const delivered = deliver(shop, paidOrder());
  await pass(5_200);
  holder.exec('ROLLBACK');
  await pass(1_000);
  expect(await delivered).toMatchObject({ status: 503, outcome: 'unavailable' });
  expect(handler).not.toHaveBeenCalled();
  expect(onError.mock.calls).toMatchObject([
    [{ code: 'store_unavailable', cause: { code: 'SQLITE_BUSY' } }, { handler: 'sell' }],
  ]);
  // The retry is due at once.
  expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
});

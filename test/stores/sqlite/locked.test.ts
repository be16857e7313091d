import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

afterEach(() => {
  vi.useRealTimers();
});

test('a call waits 5 s for a lock that is never released, and then throws an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'locked-'));
  const [holder, database] = [0, 1].map(() => new Database(join(folder, 'shop.db')));
  if (!holder || !database) throw new Error('SQLite opened nothing');
  onTestFinished(() => {
    holder.close();
    database.close();
    rmSync(folder, { recursive: true });
  });
  const store = sqliteStore(database);
  const delivery = newDelivery();
  const claimed = await store.claim(delivery, TERMS);
  if (claimed.state !== 'acquired') throw new Error('It was not claimed.');
  const { fence } = claimed;

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
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
  /** Each attempt runs in its own turn, between two waits. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      await vi.advanceTimersByTimeAsync(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass(4_800);
  expect(outcome).toBe('waits');
  await pass(400);
  expect(outcome).toMatchObject({ message: expect.stringContaining('locked') });

  holder.exec('ROLLBACK');
  expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
  expect(await store.claim(delivery, TERMS)).toMatchObject({ state: 'done' });
});

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Claimable } from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withRuntimes } from '../../../runtimes/installed.js';
import { NO_EFFECTS } from '../../../stores/effects.js';
import { drivers } from '../../../stores/sqlite/drivers.js';
import { newFolder, openStore, type RemoteStore } from '../../../stores/sqlite/remote.js';
import { newDelivery } from '../../../stores/suite.js';

const tested = drivers.filter(({ name }) =>
  ['node:sqlite on Node 24', 'bun:sqlite', 'better-sqlite3'].includes(name),
);

describe.each(tested)('SQLite through $name', ({ command, driver }) => {
  withRuntimes('several processes on one file', () => {
    let file: string;
    let stores: RemoteStore[];
    const open = async () => {
      const store = await openStore(command, driver, file);
      stores.push(store);
      return store;
    };
    const claim = (store: RemoteStore, delivery: Claimable, leaseMs = 60_000) =>
      store.claim(delivery, { owner: randomUUID(), leaseMs, keepMs: 60_000, maxCrashes: 9 });
    const fenceOf = async (store: RemoteStore, delivery: Claimable) => {
      const result = await claim(store, delivery);
      if (result.state !== 'acquired') throw new Error(result.state);
      return result.fence;
    };

    beforeEach(() => {
      file = join(newFolder(), 'webhooks.db');
      stores = [];
    });
    afterEach(async () => {
      for (const store of stores) await store.stop();
    });

    test('create the schema at the same time, and elect one winner each', async () => {
      const [a, b, c] = await Promise.all([open(), open(), open()]);
      for (let race = 0; race < 20; race++) {
        const delivery = newDelivery();
        const claims = await Promise.all(
          [a, b, c].flatMap((store) => Array.from({ length: 5 }, () => claim(store, delivery))),
        );
        expect(claims.filter(({ state }) => state === 'acquired')).toHaveLength(1);
      }
    });

    test('keep the deliveries that a killed process has completed', async () => {
      const first = await open();
      const deliveries = Array.from({ length: 50 }, newDelivery);
      const completed: string[] = [];
      const working = deliveries.map(async (delivery) => {
        const fence = await fenceOf(first, delivery);
        if (await first.complete(delivery.key, fence, 60_000)) completed.push(delivery.key);
      });
      await vi.waitUntil(() => completed.length > 0);
      first.process.kill('SIGKILL');
      await Promise.allSettled(working);
      const second = await open();
      for (const delivery of deliveries.filter(({ key }) => completed.includes(key))) {
        expect(await claim(second, delivery)).toEqual({ state: 'done' });
      }
    });

    test('wait for a lock of another process', async () => {
      const [holder, store] = [await open(), await open()];
      await claim(store, newDelivery());
      await holder.exec('BEGIN IMMEDIATE');
      const claiming = claim(store, newDelivery());
      let isSettled = false;
      void claiming.then(() => {
        isSettled = true;
      });
      // Longer than the default busy_timeout of 1 s.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(isSettled).toBe(false);
      await holder.exec('COMMIT');
      expect(await claiming).toMatchObject({ state: 'acquired' });
    });

    test('read while another process holds a lock', async () => {
      const holder = await open();
      await claim(holder, newDelivery());
      await holder.exec('BEGIN IMMEDIATE');
      const store = await open();
      // A read that waited for the lock would reject after 5 s.
      expect(await store.count({ state: 'dead' })).toBe(0);
      expect(await store.list({ state: 'dead', limit: 10 })).toEqual([]);
      await holder.exec('COMMIT');
    });

    test('reject a call if a lock is never released', async () => {
      const [holder, store] = [await open(), await open()];
      const delivery = newDelivery();
      const fence = await fenceOf(store, delivery);
      await holder.exec('BEGIN IMMEDIATE');
      await expect(store.complete(delivery.key, fence, 60_000)).rejects.toThrow(/locked/);
      await holder.exec('ROLLBACK');
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
    });

    test.each(['has written before', 'creates its tables first'])(
      'do not block the event loop while another process holds a lock, if the call that waits %s',
      async (which) => {
        const [holder, store] = [await open(), await open()];
        // Otherwise the change of the mode would fail at once, and not wait for the schema.
        await holder.exec('PRAGMA journal_mode = WAL');
        if (which === 'has written before') await claim(store, newDelivery());
        await holder.exec('BEGIN IMMEDIATE');
        const claiming = claim(store, newDelivery());
        // Less than the busy_timeout of the connection, with a margin for a slow machine.
        expect(await store.longestGap(2_000)).toBeLessThan(700);
        await holder.exec('COMMIT');
        expect(await claiming).toMatchObject({ state: 'acquired' });
      },
    );

    test('keep the busy_timeout of their connection', async () => {
      const [holder, store] = [await open(), await open()];
      await store.exec('PRAGMA busy_timeout = 4321');
      await claim(store, newDelivery());
      await holder.exec('BEGIN IMMEDIATE');
      const claiming = claim(store, newDelivery());
      await store.longestGap(100);
      const waits = async () => Object.values((await store.sql('PRAGMA busy_timeout'))[0] ?? {});
      expect(await waits()).toEqual([4321]);
      await holder.exec('COMMIT');
      await claiming;
      expect(await waits()).toEqual([4321]);
    });

    test('all get their turn if they write constantly', async () => {
      const all = await Promise.all([open(), open(), open()]);
      const claimed = all.map(() => 0);
      const haveHadTurns = () => claimed.every((count) => count > 2);
      await Promise.all(
        all.map(async (store, index) => {
          // Each goes on for as long as another waits, and a claim that waits for 5 s fails.
          while (!haveHadTurns()) {
            await claim(store, newDelivery());
            claimed[index] = (claimed[index] ?? 0) + 1;
          }
        }),
      );
    });

    test.each([Infinity, 1e300, 2.5])('accept a limit of %d', async (limit) => {
      const store = await open();
      const terms = { permanent: true, error: 'no' };
      for (const delivery of Array.from({ length: 3 }, newDelivery)) {
        await store.fail(delivery.key, await fenceOf(store, delivery), terms);
      }
      expect(await store.list({ state: 'dead', limit })).toHaveLength(limit > 3 ? 3 : 2);
      expect(await store.purge(limit)).toBe(0);
    });

    test.each([Number.NaN, -1, 0.5])('return nothing for a limit of %d', async (limit) => {
      const store = await open();
      const delivery = newDelivery();
      const terms = { permanent: true, error: 'no' };
      await store.fail(delivery.key, await fenceOf(store, delivery), terms);
      expect(await store.list({ state: 'dead', limit })).toEqual([]);
      expect(await store.purge(limit)).toBe(0);
    });

    test('reject only the call that cannot be written', async () => {
      const store = await open();
      const delivery = newDelivery();
      const fence = await fenceOf(store, delivery);
      const [{ page_count }] = (await store.sql('PRAGMA page_count')) as [{ page_count: number }];
      await store.exec(`PRAGMA max_page_count = ${page_count}`);
      const large = { ...newDelivery(), body: new Uint8Array(100_000) };
      const [first, bad, last] = await Promise.allSettled([
        store.renew(delivery.key, fence, 60_000),
        claim(store, large),
        store.complete(delivery.key, fence, 60_000),
      ]);
      expect(first).toEqual({ status: 'fulfilled', value: true });
      expect(bad).toMatchObject({ status: 'rejected', reason: { message: /full/ } });
      expect(last).toEqual({ status: 'fulfilled', value: true });
    });

    test('reject new deliveries on a full disk, lose nothing, and work again with more space', async () => {
      const store = await open();
      const delivery = newDelivery();
      const fence = await fenceOf(store, delivery);
      const [{ page_count }] = (await store.sql('PRAGMA page_count')) as [{ page_count: number }];
      await store.exec(`PRAGMA max_page_count = ${page_count}`);
      const large = { ...newDelivery(), body: new Uint8Array(100_000) };
      await expect(claim(store, large)).rejects.toThrow(/full/);
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(true);
      await store.exec('PRAGMA max_page_count = 1000000');
      expect(await claim(store, large)).toMatchObject({ state: 'acquired', attempt: 1 });
      expect(await claim(store, delivery)).toEqual({ state: 'done' });
    });

    test('do not wait for an hour if the clock is set back by an hour', async () => {
      const store = await open();
      const [leased, failed] = [newDelivery(), newDelivery()];
      await fenceOf(store, leased);
      const fence = await fenceOf(store, failed);
      const terms = { permanent: false, error: 'it threw' };
      await store.fail(failed.key, fence, terms);
      // The times in the file are ahead of the clock, as after it was set back.
      await store.exec(
        'UPDATE webhook_delivery SET fence = fence + 3600000, not_before = not_before + 3600000',
      );
      expect(await claim(store, failed)).toMatchObject({ state: 'acquired', attempt: 2 });
      // The holder may be alive: it has the time of a new lease.
      const busy = await claim(store, leased, 300);
      expect(busy).toMatchObject({ state: 'busy' });
      expect(busy.state === 'busy' && busy.retryAfterMs).toBeLessThanOrEqual(300);
      const next = await vi.waitUntil(async () => {
        const claimed = await claim(store, leased, 300);
        return claimed.state === 'acquired' ? claimed : undefined;
      }, 20_000);
      expect(next.fence).toBeGreaterThan(fence + 3_590_000);
      expect((await claim(store, leased, 300)).state).toBe('busy');
    });

    test('lose every lease of a wiped database, and work again', async () => {
      const store = await open();
      const delivery = newDelivery();
      const fence = await fenceOf(store, delivery);
      await store.exec('DROP TABLE webhook_delivery');
      await expect(store.complete(delivery.key, fence, 60_000)).rejects.toThrow(/no such table/);
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(false);
      expect(await claim(store, delivery)).toMatchObject({ state: 'acquired', attempt: 1 });
    });

    test('do not join an open transaction of the user', async () => {
      const store = await open();
      await claim(store, newDelivery());
      await store.exec('BEGIN');
      await expect(claim(store, newDelivery())).rejects.toThrow(/has begun a transaction/);
      await store.exec('COMMIT');
      expect(await claim(store, newDelivery())).toMatchObject({ state: 'acquired' });
    });

    test('are durable in a file, but not in memory, and describe themselves accordingly', async () => {
      expect(await open()).toMatchObject({ durable: true, description: 'SQLite (webhooks.db)' });
      file = ':memory:';
      expect(await open()).toMatchObject({ durable: false, description: 'SQLite in memory' });
    });

    test('write so that a power failure loses nothing', async () => {
      const store = await open();
      await claim(store, newDelivery());
      expect(Object.values((await store.sql('PRAGMA synchronous'))[0] ?? {})).toEqual([2]);
      expect(Object.values((await store.sql('PRAGMA journal_mode'))[0] ?? {})).toEqual(['wal']);
      const [timeout = 0] = Object.values((await store.sql('PRAGMA busy_timeout'))[0] ?? {});
      expect(timeout).toBeGreaterThanOrEqual(1000);
      rmSync(file);
    });

    describe('the ledger', () => {
      const effect = { key: 'a'.repeat(64), handler: 'order:paid' };
      const stock = async (store: RemoteStore) => (await store.sql('SELECT n FROM stock'))[0]?.n;
      const shop = async () => {
        const store = await open();
        await store.exec('CREATE TABLE stock (n INTEGER); INSERT INTO stock VALUES (10)');
        return store;
      };

      test('runs an effect once', async () => {
        const store = await shop();
        expect(await store.sell(effect)).toBe(true);
        expect(await store.sell(effect)).toBe(false);
        expect(await store.sell({ ...effect, handler: 'other' })).toBe(true);
        expect(await store.sell({ ...effect, key: 'b'.repeat(64) })).toBe(true);
        expect(await stock(store)).toBe(7);
      });

      test('does not keep an effect that was rolled back', async () => {
        const store = await shop();
        await expect(store.sell(effect, true)).rejects.toThrow('it fails');
        expect(await stock(store)).toBe(10);
        expect(await store.sell(effect)).toBe(true);
        expect(await stock(store)).toBe(9);
      });

      test('runs an effect once in two processes', async () => {
        const [a, b] = [await shop(), await open()];
        // Before the store's first claim, which sets the busy_timeout of the connection.
        for (const store of [a, b]) await claim(store, newDelivery());
        const answers = await Promise.all([a, b].map((store) => store.sell(effect)));
        expect(answers.sort()).toEqual([false, true]);
        expect(await stock(b)).toBe(9);
      });

      test.each(NO_EFFECTS)('rejects an invalid effect: %s', async (_, no) => {
        const store = await shop();
        // A JavaScript program can pass anything.
        const sold = store.sell(no as { key: string; handler: string });
        await expect(sold).rejects.toMatchObject({ code: 'key_invalid' });
        expect(await stock(store)).toBe(10);
      });

      test('rejects use outside of a transaction', async () => {
        const store = await shop();
        await expect(store.onceOutside(effect)).rejects.toMatchObject({
          code: 'transaction_missing',
        });
      });
    });
  });
});

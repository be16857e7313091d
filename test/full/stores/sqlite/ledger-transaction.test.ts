import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withRuntimes } from '../../../runtimes/installed.js';
import { NO_EFFECTS } from '../../../stores/effects.js';
import { drivers } from '../../../stores/sqlite/drivers.js';
import { newFolder, openStore, type RemoteStore } from '../../../stores/sqlite/remote.js';
import { newDelivery } from '../../../stores/suite.js';
import { casesOf } from '../../../support/tier.js';

const newEffect = () => ({
  key: createHash('sha256').update(randomUUID()).digest('hex'),
  handler: 'order:paid',
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const tested = casesOf(
  drivers.filter(({ name }) =>
    ['node:sqlite on Node 24', 'bun:sqlite', 'better-sqlite3'].includes(name),
  ),
  ({ name }) => name === 'bun:sqlite',
);

describe.each(tested)('a transaction of the ledger through $name', ({ command, driver }) => {
  withRuntimes('on one file', () => {
    let file: string;
    let stores: RemoteStore[];
    const open = async () => {
      const store = await openStore(command, driver, file);
      stores.push(store);
      return store;
    };
    const claim = (store: RemoteStore) =>
      store.claim(newDelivery(), {
        owner: randomUUID(),
        leaseMs: 60_000,
        keepMs: 60_000,
        maxCrashes: 9,
      });
    const shop = async () => {
      const store = await open();
      await store.exec('CREATE TABLE stock (n INTEGER); INSERT INTO stock VALUES (100)');
      return store;
    };
    const stock = async (store: RemoteStore) => (await store.sql('SELECT n FROM stock'))[0]?.n;

    beforeEach(() => {
      file = join(newFolder(), 'webhooks.db');
      stores = [];
    });
    afterEach(async () => {
      for (const store of stores) await store.stop();
    });

    test('runs an effect once, and rolls back one that fails', async () => {
      const store = await shop();
      const effect = newEffect();
      await expect(store.transact(effect, 'fails')).rejects.toThrow('it fails');
      expect(await stock(store)).toBe(100);
      expect(await store.transact(effect)).toBe(true);
      expect(await store.transact(effect)).toBe(false);
      expect(await store.transact({ ...effect, handler: 'other' })).toBe(true);
      expect(await stock(store)).toBe(98);
    });

    test.each(['returns a promise', 'is async'])('rejects work that %s', async (how) => {
      const store = await shop();
      const effect = newEffect();
      await expect(store.transact(effect, how)).rejects.toMatchObject({
        code: 'work_invalid',
        message: expect.stringContaining('no await'),
      });
      expect(await stock(store)).toBe(100);
      expect(await store.transact(effect)).toBe(true);
    });

    test('reports that its work has ended it', async () => {
      const store = await shop();
      await expect(store.transact(newEffect(), 'ends its transaction')).rejects.toMatchObject({
        code: 'transaction_missing',
      });
      expect(await store.transact(newEffect())).toBe(true);
    });

    test('is not retried, whatever its work throws', async () => {
      const store = await shop();
      const started = performance.now();
      const failing = store.transact(newEffect(), 'fails as if it were locked');
      await expect(failing).rejects.toThrow('database is locked');
      // A lock is waited for up to 5 s.
      expect(performance.now() - started).toBeLessThan(2_500);
      expect(await stock(store)).toBe(100);
    });

    test('creates no table of the store and changes no setting in its own database', async () => {
      const store = await shop();
      await store.exec('PRAGMA busy_timeout = 0');
      const settings = () =>
        Promise.all(
          ['busy_timeout', 'journal_mode', 'synchronous'].map((name) =>
            store.sql(`PRAGMA ${name}`),
          ),
        );
      const before = await settings();
      expect(await store.transact(newEffect())).toBe(true);
      expect(await settings()).toEqual(before);
      const tables = `SELECT name FROM sqlite_master WHERE name LIKE 'webhook%'`;
      expect(await store.sql(tables)).toEqual([{ name: 'webhook_effect' }]);
      // The store then creates its tables.
      expect(await claim(store)).toMatchObject({ state: 'acquired' });
      expect(Object.values((await store.sql('PRAGMA busy_timeout'))[0] ?? {})).toEqual([1000]);
    });

    test('waits for the disk if the driver does not in WAL mode', async () => {
      const store = await shop();
      await store.exec('PRAGMA journal_mode = WAL');
      expect(await store.transact(newEffect(), 'looks whether the disk is waited for')).toBe(true);
      expect(await stock(store)).toBe(2);
    });

    test('alternates with the verbs of the store, of which one fails alone', async () => {
      const store = await shop();
      await claim(store);
      const effect = newEffect();
      const all = await Promise.allSettled([
        claim(store),
        store.transact(effect),
        claim(store),
        store.transact(newEffect(), 'fails'),
        claim(store),
        claim(store),
        store.transact(effect),
      ]);
      expect(all.map(({ status }) => status)).toEqual([
        ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
        ...['fulfilled', 'fulfilled', 'fulfilled'],
      ]);
      expect(await stock(store)).toBe(99);
    });

    test.each([
      ['beside the store', true],
      ['in its own database', false],
    ])('waits 2 s for a lock without blocking the event loop, %s', async (_, besides) => {
      const [store, holder] = [await shop(), await open()];
      await holder.exec('PRAGMA journal_mode = WAL');
      if (besides) await claim(store);
      await holder.exec('BEGIN IMMEDIATE');
      const selling = Promise.all(Array.from({ length: 12 }, () => store.transact(newEffect())));
      const gap = store.longestGap(2_500);
      await pause(2_000);
      await holder.exec('COMMIT');
      expect(await selling).toEqual(Array(12).fill(true));
      expect(await stock(store)).toBe(88);
      // With one busy_timeout of 1 s, each of the twelve would wait for its own.
      expect(await gap).toBeLessThan(500);
    });

    test('gives up on a lock that is held for longer than 5 s', async () => {
      const [store, holder] = [await shop(), await open()];
      await claim(store);
      await holder.exec('BEGIN IMMEDIATE');
      const started = performance.now();
      const selling = Promise.allSettled(
        Array.from({ length: 12 }, () => store.transact(newEffect())),
      );
      const gap = store.longestGap(6_000);
      for (const sale of await selling) {
        expect(sale).toMatchObject({
          status: 'rejected',
          reason: { message: expect.stringContaining('locked') },
        });
      }
      expect(performance.now() - started).toBeGreaterThan(4_900);
      expect(performance.now() - started).toBeLessThan(8_000);
      expect(await gap).toBeLessThan(500);
      await holder.exec('ROLLBACK');
      expect(await stock(store)).toBe(100);
      expect(await store.transact(newEffect())).toBe(true);
    });

    test.each(NO_EFFECTS)('rejects an invalid effect: %s', async (_, no) => {
      const store = await shop();
      // A JavaScript program can pass anything.
      const sold = store.transact(no as { key: string; handler: string });
      await expect(sold).rejects.toMatchObject({ code: 'key_invalid' });
      expect(await stock(store)).toBe(100);
    });
  });
});

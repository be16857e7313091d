import { expect, test, vi } from 'vitest';
import { LAYOUT } from '../../../../src/stores/layout-version.js';
import { withRuntimes } from '../../../runtimes/installed.js';
import { newFolder } from '../../../stores/sqlite/remote.js';
import { newDelivery } from '../../../stores/suite.js';
import { acquire, bury, terms } from '../../../stores/workerd/cases.js';
import { buildWorker, serveWorker, type Which } from '../../../stores/workerd/served.js';

withRuntimes('a Worker that is killed', () => {
  test('remembers its answers after a crash, and the next process takes over', {
    timeout: 120_000,
  }, async () => {
    const folder = newFolder();
    await buildWorker(folder);
    const stores: Which[] = [{ store: 'durable-object', shards: 2 }, { store: 'd1' }];
    const [done, leased, dead] = [newDelivery(), newDelivery(), newDelivery()];
    const fences: number[] = [];

    const first = await serveWorker(folder);
    for (const store of stores.map((which) => first.store(which))) {
      await store.complete(done.key, (await acquire(store, done)).fence, 60_000);
      await bury(store, dead);
      fences.push((await acquire(store, leased, { leaseMs: 300 })).fence);
    }
    const objects = first.store({ store: 'durable-object', shards: 2 });
    const old = { ...newDelivery(), key: '0'.repeat(64) };
    const { fence } = await acquire(objects, old, { keepMs: 3_000 });
    await objects.complete(old.key, fence, 3_000);
    await first.kill();

    const second = await serveWorker(folder);
    try {
      for (const [index, store] of stores.map((which) => second.store(which)).entries()) {
        expect(await store.claim(done, terms())).toEqual({ state: 'done' });
        const listed = await store.list({ state: 'dead', limit: 9 });
        expect(listed.map(({ key, body }) => [key, Buffer.from(body).toString()])).toEqual([
          [dead.key, '{"id":"ord_1"}'],
        ]);
        const next = await vi.waitUntil(async () => {
          const claim = await store.claim(leased, terms());
          return claim.state === 'busy' ? undefined : claim;
        });
        expect(next).toMatchObject({ state: 'acquired', attempt: 2 });
        expect(next.state === 'acquired' && next.fence > Number(fences[index])).toBe(true);
        expect(await store.complete(leased.key, Number(fences[index]), 60_000)).toBe(false);
      }
      // The killed process had set the alarm.
      await vi.waitUntil(
        async () => {
          const rows = await second
            .store({ store: 'durable-object', shards: 2 })
            .objectSql(0, `SELECT 1 FROM webhook_delivery WHERE key = '${old.key}'`);
          return rows.length === 0;
        },
        { timeout: 30_000, interval: 100 },
      );
      const newer = `INSERT INTO webhook_schema VALUES (${LAYOUT + 5}, ${LAYOUT + 1})`;
      await second.store({ store: 'd1' }).sql(newer);
      for (const shard of [0, 1]) {
        await second.store({ store: 'durable-object', shards: 2 }).objectSql(shard, newer);
      }
    } finally {
      await second.kill();
    }

    const third = await serveWorker(folder);
    try {
      for (const store of stores.map((which) => third.store(which))) {
        await expect(store.claim(done, terms())).rejects.toThrow(/newer version of this package/);
      }
    } finally {
      await third.kill();
    }
  });
});

import type { Claimable } from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { LONG_AGO_MS } from '../model.js';
import { OLDER_SCHEMA, olderClaim } from '../sqlite/older.js';
import { newDelivery } from '../suite.js';
import { acquire, bury, terms, testBodiesAndClocks } from '../workerd/cases.js';
import type { Served } from '../workerd/served.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A key that belongs to the first object, for any number of objects. */
function inFirst(): Claimable {
  const delivery = newDelivery();
  return { ...delivery, key: `000000${delivery.key.slice(6)}` };
}

export function describeDurableObjects(worker: () => Served) {
  const open = async (shards: number) => {
    const store = worker().store({ store: 'durable-object', shards });
    await store.wipe();
    return store;
  };

  describe('Durable Objects', () => {
    testBodiesAndClocks(() => open(3));

    test('are listed in the order of the keys across all objects, one page at a time', async () => {
      const store = await open(16);
      const deliveries = [inFirst(), ...Array.from({ length: 59 }, newDelivery)];
      await Promise.all(deliveries.map((delivery) => bury(store, delivery)));
      const keys = deliveries.map(({ key }) => key).sort();
      const listed: string[] = [];
      for (const limit of [7, 1, 25, 100]) {
        const after = listed.at(-1);
        const page = await store.list({ state: 'dead', limit, after });
        expect(page).toHaveLength(Math.min(limit, keys.length - listed.length));
        listed.push(...page.map(({ key }) => key));
      }
      expect(listed).toEqual(keys);
      expect(await store.count({ state: 'dead' })).toBe(60);
      const [first] = await store.objectSql(0, 'SELECT max(key) AS last FROM webhook_delivery');
      expect(String(first?.last) < '1').toBe(true);
    });

    test('are listed in one page, even if one object has more than fits into an answer', async () => {
      const store = await open(1);
      await Promise.all(Array.from({ length: 45 }, () => bury(store, newDelivery())));
      const keys = (await store.list({ state: 'dead', limit: 100 })).map(({ key }) => key);
      expect(new Set(keys).size).toBe(45);
      expect(keys).toEqual(keys.toSorted());
    });

    test('wake up to purge old deliveries, and abandon those whose sender gave up', async () => {
      const store = await open(5);
      const [done, abandoned] = [inFirst(), inFirst()];
      await acquire(store, abandoned, { leaseMs: LONG_AGO_MS });
      const { fence } = await acquire(store, done);
      // Both are due before the alarm, which is set once a minute.
      await store.objectSql(0, 'UPDATE webhook_delivery SET purge_at = 0');
      await store.complete(done.key, fence, 0);
      expect(await store.storePurge(500)).toBe(0);
      const left = await vi.waitUntil(
        async () => {
          const rows = await store.objectSql(0, 'SELECT key, state, error FROM webhook_delivery');
          return rows.length === 1 ? rows : undefined;
        },
        { interval: 100 },
      );
      const error = expect.stringMatching(/^abandoned/);
      expect(left).toEqual([{ key: abandoned.key, state: 'dead', error }]);
      // A dead delivery is due in 30 days.
      const next = await vi.waitUntil(() => store.alarm(0));
      expect(next).toBeGreaterThan(Date.now() + 29 * DAY_MS);
    });

    test('purge a backlog in pieces in quick succession', async () => {
      const store = await open(7);
      // Creates its table.
      await store.redrive(inFirst().key);
      await store.objectSql(
        0,
        `INSERT INTO webhook_delivery
          (key, scope, delivery_id, event, received_at, state, owner, fence, not_before, purge_at)
        SELECT n, '', '', '', 0, 'done', '', 1, 0, n
        FROM (WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 1200)
          SELECT n FROM numbers)`,
      );
      const delivery = inFirst();
      const { fence } = await acquire(store, delivery, { keepMs: 0 });
      await store.complete(delivery.key, fence, 0);
      await vi.waitUntil(
        async () => (await store.objectSql(0, 'SELECT 1 FROM webhook_delivery')).length === 0,
        { interval: 100 },
      );
      expect(await store.alarm(0)).toBe(null);
    });

    test('need no write for the alarm if nothing is due earlier than before', async () => {
      const store = await open(6);
      await acquire(store, inFirst(), { keepMs: 30 * DAY_MS });
      const first = await store.alarm(0);
      for (let count = 0; count < 5; count++) {
        const delivery = inFirst();
        const { fence } = await acquire(store, delivery, { keepMs: 30 * DAY_MS });
        await store.complete(delivery.key, fence, 30 * DAY_MS);
      }
      await acquire(store, inFirst(), { keepMs: Number.POSITIVE_INFINITY });
      expect(await store.alarm(0)).toBe(first);
      await acquire(store, inFirst(), { keepMs: 7 * DAY_MS });
      expect(await store.alarm(0)).toBeLessThan(Number(first) - 22 * DAY_MS);
    });

    test('that were emptied reject every lease, and work again', async () => {
      const store = await open(3);
      const delivery = inFirst();
      const { fence } = await acquire(store, delivery);
      await store.objectSql(0, 'DROP TABLE webhook_delivery');
      expect(await store.complete(delivery.key, fence, 60_000)).toBe(false);
      expect(await store.claim(delivery, terms())).toMatchObject({ state: 'acquired', attempt: 1 });
    });

    test('with tables of the previous version keep a proof after the update', async () => {
      const store = await open(3);
      const [before, delivery] = [inFirst(), { ...inFirst(), proof: 'the proof' }];
      // Creates its table.
      await store.redrive(before.key);
      await store.objectSql(0, 'DROP TABLE webhook_delivery');
      await store.objectSql(0, OLDER_SCHEMA);
      await store.objectSql(0, olderClaim(before.key));
      await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
      const listed = await store.list({ state: 'stalled', limit: 9 });
      const expected = [
        [before.key, undefined],
        [delivery.key, 'the proof'],
      ];
      expect(listed.map(({ key, proof }) => [key, proof])).toEqual(expected.sort());
    });

    test('reject unknown requests without repeating their content', async () => {
      const store = await open(3);
      const refused = expect.stringMatching(/^{"error":".* different versions\."}$/);
      const frame = '\u0000\u0000\u0000\u0002[]';
      for (const path of ['2/claim', '1/toString', '1/']) {
        expect(await store.raw(`https://webhook-deliveries/${path}`, frame)).toEqual([
          500,
          refused,
        ]);
      }
      const [status, text] = await store.raw('https://webhook-deliveries/1/claim', 'rubbish');
      expect(status).toBe(500);
      expect(text).toBe('{"error":"This is not a frame of WebhookDeliveries."}');
    });
  });
}

import type { PGlite } from '@electric-sql/pglite';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { COUNT, FIND_DONE, LIST } from '../../../src/stores/postgres/statements.js';
import { openPglite } from '../../support/pglite.js';
import {
  acquire,
  EMPTY,
  KEEP_MS,
  LONG_AGO_MS,
  newDelivery,
  STARTING_MS,
  terms,
} from './claiming.js';

const RETRY = { permanent: false, error: 'it threw' };
let database: PGlite;
let store: IdempotencyStore;
const delivery = newDelivery();

beforeAll(async () => {
  database = await openPglite();
  await database.exec(postgresSchema());
  store = postgresStore(database);
}, STARTING_MS);
beforeEach(async () => {
  await database.exec(EMPTY);
});

async function row(): Promise<Record<string, unknown>> {
  const { rows } = await database.query<Record<string, unknown>>(
    `SELECT *, purge_at > clock_timestamp() + interval '29 days' AS kept FROM webhook_delivery`,
  );
  return rows[0] ?? {};
}

test.each(['dead', 'stalled', 'failing'] as const)(
  'listing %s deliveries does not read stored goods',
  async (state) => {
    await database.exec(`INSERT INTO webhook_delivery (key, scope, id, event, received_at, state, fence,
      attempts, failures, not_before, purge_at)
      SELECT decode(md5(n::text), 'hex'), '', '', '', now(), 'retry', 1, 1, 0, now(), 'infinity'
      FROM generate_series(1, 5000) n; ANALYZE webhook_delivery`);
    for (const [text, values] of [
      [LIST[state], ['', '100', null]],
      [COUNT[state], ['100', null]],
    ] as const) {
      const { rows } = await database.query(`EXPLAIN ANALYZE ${text}`, [...values]);
      expect(JSON.stringify(rows)).toContain('webhook_delivery_unfinished');
      expect(JSON.stringify(rows)).not.toContain('Rows Removed by Filter');
    }
  },
);

test.each(['dead', 'stalled', 'failing'] as const)(
  'a page of %s deliveries is read in the order of an index, without sorting all rows',
  async (state) => {
    await database.exec(`INSERT INTO webhook_delivery (key, scope, id, event, received_at, state, fence,
      attempts, failures, not_before, purge_at, body)
      SELECT decode(md5(s.state || s.due || n), 'hex'), '', '', '', now(), s.state, 1, 1, 1,
        now() + s.due::interval, 'infinity', '{}'
      FROM generate_series(1, 600) n, (VALUES ('dead', '0'), ('retry', '-1 hour'), ('retry', '1 hour'),
        ('leased', '-1 hour'), ('leased', '1 hour')) s (state, due); ANALYZE webhook_delivery`);
    for (const values of [
      ['', '100', null],
      ['80', '100', null],
      ['80', '100', ''],
      ['80', '1', null],
    ]) {
      const { rows } = await database.query(`EXPLAIN ${LIST[state]}`, values);
      expect(JSON.stringify(rows)).not.toMatch(/\bSort {2}\(/);
      expect(JSON.stringify(rows)).toContain('webhook_delivery_unfinished');
    }
  },
  STARTING_MS,
);

test('a delivery is claimed if the server cannot say whether its sender is gone', async () => {
  const isGone = () => {
    throw new Error('The response is over.');
  };
  expect(await store.claim(delivery, { ...terms(), isGone })).toMatchObject({ state: 'acquired' });
});

test('an abandoned delivery rejects its last holder', async () => {
  const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS, keepMs: 0 });
  expect(await store.purge(1)).toBe(1);
  expect(await row()).toMatchObject({ state: 'dead', kept: true });
  expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
  expect(await store.redrive(delivery.key)).toBe(true);
  await acquire(store, delivery);
  expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
});

test.each([
  ['release', (fence: number) => store.release(delivery.key, fence)],
  ['fail', (fence: number) => store.fail(delivery.key, fence, RETRY)],
  ['lapse', (fence: number) => store.renew(delivery.key, fence, -1)],
])('each claim after a %s has its own fence, even if the clock was set back', async (_, end) => {
  const ahead = Date.now() + 1e10;
  let last = (await acquire(store, delivery)).fence;
  await database.query('UPDATE webhook_delivery SET fence = $1', [ahead]);
  last = ahead;
  for (let time = 1; time <= 3; time++) {
    await end(last);
    const { fence } = await acquire(store, delivery, { maxCrashes: Infinity });
    expect(fence).toBe(ahead + time);
    expect(await store.renew(delivery.key, last, 10_000)).toBe(false);
    last = fence;
  }
});

describe('after the clock was set back by an hour', () => {
  /** As the rows look then, from the new time. */
  const SET_BACK = `UPDATE webhook_delivery
    SET fence = fence + 3600000, not_before = not_before + interval '1 hour'`;

  test('a failed delivery is due at once', async () => {
    await store.fail(delivery.key, (await acquire(store, delivery)).fence, RETRY);
    await database.exec(SET_BACK);
    expect(await acquire(store, delivery)).toMatchObject({ attempt: 2 });
  });

  test('a lease ends no later than one that is taken now', async () => {
    const { fence } = await acquire(store, delivery);
    await database.exec(SET_BACK);
    const claim = await store.claim(delivery, terms({ leaseMs: 5_000 }));
    expect(claim).toMatchObject({ state: 'busy' });
    expect(claim.state === 'busy' && claim.retryAfterMs).toBeLessThanOrEqual(5_000);
    await store.claim(delivery, terms({ leaseMs: -1 }));
    const next = await acquire(store, delivery);
    expect(next.fence).toBeGreaterThan(fence + 3_600_000);
  });

  test('a copy does not take over a delivery whose transaction is about to begin', async () => {
    await store.fail(delivery.key, (await acquire(store, delivery)).fence, RETRY);
    await database.exec(SET_BACK);
    await acquire(store, delivery, { isTransaction: true });
    expect(await store.claim(delivery, terms({ isTransaction: true }))).toMatchObject({
      state: 'busy',
    });
  });
});

test.each([
  ['released', (fence: number) => store.release(delivery.key, fence), 1],
  ['failed', (fence: number) => store.fail(delivery.key, fence, RETRY), 2],
])(
  'a %s delivery cannot be completed, and its owner may claim it again',
  async (_, end, attempt) => {
    const lease = terms();
    const { fence } = await acquire(store, delivery, lease);
    await end(fence);
    expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
    expect(await acquire(store, delivery, lease)).toMatchObject({ attempt });
  },
);

test('the fence is the time of the clock if that is larger', async () => {
  const before = Date.now();
  const { fence } = await acquire(store, delivery);
  expect(Math.abs(fence - before)).toBeLessThan(60_000);
});

test('a done delivery whose time is over counts as new, even if it was not purged', async () => {
  const first = await acquire(store, delivery, { leaseMs: LONG_AGO_MS, keepMs: 0 });
  await store.fail(delivery.key, first.fence, RETRY);
  const second = await acquire(store, delivery, { keepMs: 0 });
  await store.completeStep(delivery.key, second.fence, 'mail', 'sent');
  expect(await store.complete(delivery.key, second.fence, 0)).toBe(true);
  const again = await acquire(
    store,
    { ...delivery, id: 'whl_2' },
    { leaseMs: LONG_AGO_MS, keepMs: Infinity },
  );
  expect(again).toMatchObject({ attempt: 1, steps: {} });
  expect(again.fence).toBeGreaterThan(second.fence);
  expect(await row()).toMatchObject({ failures: 0, error: null, kept: true });
  const [stalled] = await store.list({ state: 'stalled', limit: 1 });
  expect(stalled).toMatchObject({ id: 'whl_2', attempts: 1, error: undefined });
  expect(Buffer.from(stalled?.body ?? []).toString()).toBe('{"id":"ord_1"}');
});

test('a done delivery keeps no data that it does not need', async () => {
  const { fence } = await acquire(store, { ...delivery, proof: 'the proof' });
  await store.completeStep(delivery.key, fence, 'mail', 'sent');
  await store.complete(delivery.key, fence, KEEP_MS);
  expect(await row()).toMatchObject({
    state: 'done',
    body: null,
    proof: null,
    handlers: {},
    error: null,
    owner: null,
  });
});

test('a delivery that is dead after crashes keeps its body, and has no holder', async () => {
  const owner = 'the last';
  const { fence } = await acquire(store, delivery, { owner, leaseMs: LONG_AGO_MS, keepMs: 0 });
  const dead = { state: 'dead' };
  expect(await store.claim(delivery, terms({ maxCrashes: 1 }))).toEqual(dead);
  expect(await store.claim(delivery, terms({ owner }))).toEqual(dead);
  expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
  expect(await store.purge(9)).toBe(0);
  expect(await row()).toMatchObject({ kept: true });
  const [listed, ...others] = await store.list({ state: 'dead', limit: Infinity });
  expect(listed?.error).toBe('it was interrupted too often');
  expect(others).toEqual([]);
});

test('a delivery that fails for good is kept as well, with a shortened error', async () => {
  const { fence } = await acquire(store, delivery, { keepMs: 0 });
  const error = `${'e'.repeat(1_999)}💥 and so on`;
  expect(await store.fail(delivery.key, fence, { ...RETRY, permanent: true, error })).toBe('dead');
  expect(await row()).toMatchObject({ kept: true, error: `${'e'.repeat(1_999)}\ufffd` });
});

test('a repeated claim extends its lease', async () => {
  const lease = terms({ leaseMs: 1_000 });
  await store.claim(delivery, lease);
  await store.claim(delivery, { ...lease, leaseMs: 60_000 });
  const busy = await store.claim(delivery, terms());
  expect(busy.state === 'busy' && busy.retryAfterMs).toBeGreaterThan(50_000);
});

test('terms of any size are accepted', async () => {
  for (const keepMs of [Infinity, Number.MAX_SAFE_INTEGER, 1e14, 0.5]) {
    const one = newDelivery();
    const { fence } = await acquire(store, one, { keepMs, leaseMs: 1e12 + 0.5, maxCrashes: 1e12 });
    expect(await store.renew(one.key, fence, 0.25)).toBe(true);
    expect(await store.complete(one.key, fence, keepMs)).toBe(true);
  }
});

test('a thousand writes at once share a few statements', async () => {
  let statements = 0;
  const counted = postgresStore({
    async query(text: string, values?: (string | null)[]) {
      statements += 1;
      // A trip takes longer than steps wait before they share a statement.
      await new Promise((resolve) => setTimeout(resolve, 60));
      return database.query(text, values);
    },
  });
  const claimed = await Promise.all(
    Array.from({ length: 1_000 }, async () => {
      const { key, ...rest } = newDelivery();
      return { key, ...(await acquire(counted, { key, ...rest })) };
    }),
  );
  const verbs = {
    renew: (key: string, fence: number) => counted.renew(key, fence, 60_000),
    completeStep: (key: string, fence: number) => counted.completeStep(key, fence, 'mail', null),
    release: (key: string, fence: number) => counted.release(key, fence),
    fail: (key: string, fence: number) => counted.fail(key, fence, RETRY),
  };
  for (const [verb, write] of Object.entries(verbs)) {
    statements = 0;
    await Promise.all(claimed.map(({ key, fence }) => write(key, fence)));
    // On a busy machine, steps may have waited long enough to share a statement when the first is sent.
    const [fewest, most] = verb === 'completeStep' ? [4, 8] : [4, 4];
    expect(statements, verb).toBeGreaterThanOrEqual(fewest);
    expect(statements, verb).toBeLessThanOrEqual(most);
  }
});

test('keys that are asked for at once share a statement, and are looked up by index', async () => {
  const done = newDelivery();
  const { fence } = await acquire(store, done);
  await store.complete(done.key, fence, KEEP_MS);
  const asked = [done.key, ...Array.from({ length: 149 }, () => newDelivery().key), done.key];
  const queries = vi.spyOn(database, 'query');
  const found = await Promise.all(asked.map((key) => store.isDone?.(key)));
  expect(found).toEqual(asked.map((key) => key === done.key));
  expect(queries).toHaveBeenCalledOnce();
  queries.mockRestore();
  await database.exec(`INSERT INTO webhook_delivery (key, scope, id, event, received_at, state, fence,
    attempts, failures, not_before, purge_at)
    SELECT decode(md5(n::text), 'hex'), '', '', '', now(), 'done', 1, 1, 0, now(), 'infinity'
    FROM generate_series(1, 20000) n; ANALYZE webhook_delivery`);
  const { rows } = await database.query(`EXPLAIN ${FIND_DONE}`, [JSON.stringify(asked)]);
  expect(JSON.stringify(rows)).not.toContain('Seq Scan');
});

import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { d1Ledger, d1Schema, d1Store } from 'storefront-webhooks/cloudflare';
import { sqliteSchema } from 'storefront-webhooks/sqlite';
import { expect, test, vi } from 'vitest';
import { LAYOUT } from '../../../src/stores/layout-version.js';
import { FIND_LAYOUT } from '../../../src/stores/sqlite/schema.js';
import { newDelivery } from '../suite.js';
import { D1OverLibsql } from './over-libsql.js';

/** A database whose statements fail with the given errors in order, and then find nothing. */
function database(...messages: string[]) {
  const fails = async () => {
    const message = messages.shift();
    if (message) throw new Error(`D1_ERROR: ${message}`);
    return { results: [] };
  };
  const statement = { bind: () => statement, all: fails };
  const layout = { layout: LAYOUT, beside: LAYOUT };
  const found = async () => ({ results: [layout] });
  const prepare = vi.fn((sql: string) =>
    sql === FIND_LAYOUT ? { ...statement, all: found } : statement,
  );
  const batch = vi.fn(async (): Promise<{ results: unknown[] }[]> => [await fails()]);
  return { prepare, batch, layout };
}

const MISSING = 'no such table: webhook_delivery: SQLITE_ERROR';
const { key } = newDelivery();
const effect = { key, handler: 'order:paid' };

test('missing tables are created, and the statement is run again', async () => {
  const missing = database(MISSING);
  expect(await d1Store(missing).redrive(key)).toBe(false);
  const made = missing.prepare.mock.calls.filter(([sql]) => sql.startsWith('CREATE TABLE'));
  expect(made).toHaveLength(3);
});

test.each(['Network connection lost.', 'D1 DB storage operation exceeded timeout'])(
  'the error %j is thrown without a retry of the store, because the receiver retries',
  async (message) => {
    const failing = database(message);
    await expect(d1Store(failing).redrive(key)).rejects.toThrow(message);
    expect(failing.batch).not.toHaveBeenCalled();
    // The second statement reads the layout.
    expect(failing.prepare).toHaveBeenCalledTimes(2);
  },
);

test('every call is rejected, and writes nothing, if the tables belong to a later version', async () => {
  const newer = database();
  Object.assign(newer.layout, { layout: LAYOUT + 1, beside: LAYOUT + 1 });
  const store = d1Store(newer);
  for (const call of [1, 2]) {
    await expect(store.redrive(key), `${call}`).rejects.toMatchObject({ code: 'schema_newer' });
  }
  expect(newer.prepare.mock.calls.flat().filter((sql) => sql !== FIND_LAYOUT)).toEqual([]);
});

test('the store describes itself as D1', () => {
  expect(d1Store(database()).description).toBe('D1');
});

test('an error while creating tables is thrown', async () => {
  const store = d1Store(database(MISSING, 'not authorized'));
  await expect(store.redrive(key)).rejects.toThrow('not authorized');
});

test('old deliveries are purged with a completion, once a minute, because a Worker may end after its answer', async () => {
  const old = database();
  const store = d1Store(old);
  for (let delivery = 0; delivery < 3; delivery++) await store.complete(key, 1, 1_000);
  expect(old.batch).toHaveBeenCalledTimes(1);
  expect(old.prepare.mock.calls.map(([sql = '']: string[]) => sql.trim().split(' ')[0])).toEqual([
    'SELECT',
    'UPDATE',
    'UPDATE',
    'DELETE',
    'UPDATE',
    'UPDATE',
  ]);
});

test.each([
  [0, 500],
  [500, 0],
  [499, 1],
])(
  'a backlog of %d stalled and %d done deliveries is purged with the next completion, and not by the receiver',
  async (abandoned, forgotten) => {
    const old = database();
    const store = d1Store(old);
    const rows = (length: number) => ({ results: Array.from({ length }, () => ({})) });
    old.batch.mockResolvedValueOnce([rows(0), rows(abandoned), rows(forgotten)]);
    for (let delivery = 0; delivery < 3; delivery++) await store.complete(key, 1, 1_000);
    expect(old.batch).toHaveBeenCalledTimes(2);
    expect(await store.purge(500)).toBe(0);
    expect(old.batch).toHaveBeenCalledTimes(2);
  },
);

test('a completion that fails together with the purge is tried again without it', async () => {
  const failing = database('D1 DB reset');
  const store = d1Store(failing);
  await expect(store.complete(key, 1, 1_000)).rejects.toThrow('D1 DB reset');
  await store.complete(key, 1, 1_000);
  expect(failing.batch).toHaveBeenCalledTimes(1);
});

test.each([60_000, Number.POSITIVE_INFINITY])(
  'a key is done as soon as it is completed, for %s ms, although it was asked for before',
  async (keepMs) => {
    const store = d1Store(new D1OverLibsql(new Database(':memory:')));
    const delivery = newDelivery();
    expect(await store.isDone?.(delivery.key)).toBe(false);
    const terms = { owner: 'a', leaseMs: 60_000, keepMs, maxCrashes: 5 };
    const claim = await store.claim(delivery, terms);
    await store.complete(delivery.key, 'fence' in claim ? claim.fence : 0, keepMs);
    expect(await store.isDone?.(delivery.key)).toBe(true);
  },
);

test('a batch whose answer is lost rejects, instead of reporting its effect as done before', async () => {
  const ledger = d1Ledger(database('Network connection lost.'));
  await expect(ledger.batch(effect, [])).rejects.toThrow('Network connection lost');
});

test("the schema equals SQLite's, and can be applied again", () => {
  expect(d1Schema()).toBe(sqliteSchema());
  expect(d1Schema().match(/CREATE (TABLE|INDEX) (?!IF NOT EXISTS)/)).toBe(null);
});

test.each([
  ['nothing', undefined],
  ['text', 'DB'],
  ['a namespace of objects', { idFromName() {}, get() {} }],
  ['an object that seems to have every method', new Proxy({}, { get: () => () => {} })],
])('%s is not a D1 database', (_, binding) => {
  const refused = expect.objectContaining({
    code: 'client_invalid',
    message: expect.stringContaining('"d1_databases": ['),
  });
  expect(() => d1Store(binding as never)).toThrow(refused);
  expect(() => d1Ledger(binding as never)).toThrow(refused);
});

test('a receiver accepts no body that does not fit in a row', () => {
  const store = d1Store(database());
  expect(() => createReceiver({ secret: 'a secret', store, limit: 1_400_001 })).toThrow(
    'at most 1400000',
  );
});

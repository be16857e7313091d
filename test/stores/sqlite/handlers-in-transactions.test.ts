import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../../support/deliver.js';
import { newDelivery } from '../suite.js';
import { describeTransactions, TABLE } from '../transactions.js';

describeTransactions(
  'SQLite',
  async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'wh-sqlite-')), 'shop.db');
    const database = new Database(file);
    database.exec(TABLE);
    return {
      store: sqliteStore(database),
      other: sqliteStore(new Database(file)),
      run: (tx, statement) => tx.exec(statement),
      exec: async (statements) => database.exec(statements),
      sold: async () => database.prepare('SELECT * FROM sold').all().length,
    };
  },
  // The handler has the database itself, which refuses nothing.
  { isSynchronous: true, soldAtCommit: 1 },
);

const shopOn = (database: Database.Database) =>
  createReceiver({
    secret: SECRET,
    store: sqliteStore(database),
    hooks: { onError() {}, onRejected() {} },
  }).on('order:paid', () => {}, { name: 'sell', transaction: true });

test('a delivery to a closed database is answered 503, and the process survives', async () => {
  const database = new Database(':memory:');
  const shop = shopOn(database);
  await deliver(shop, paidOrder(), { id: 'whl_1' });
  database.close();
  expect(await deliver(shop, paidOrder(), { id: 'whl_2' })).toMatchObject({ status: 503 });
});

const refused = async () => {
  throw new Error('no licence left');
};
test.each<[string, () => unknown]>([
  ['a promise', refused],
  ['an array with promises', () => [1, refused(), refused()]],
])(
  'a handler that returns %s fails its delivery, and the process survives a rejection',
  async (_, work) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const onError = vi.fn();
    const store = sqliteStore(new Database(':memory:'));
    const shop = createReceiver({ secret: SECRET, store, hooks: { onError } }).on(
      'order:paid',
      () => work(),
      { name: 'sell', transaction: true },
    );
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    expect(onError.mock.calls).toMatchObject([[{ code: 'handler_invalid' }, { handler: 'sell' }]]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  },
);

test('a handler that returns a query that has not run fails its delivery, and the query never runs', async () => {
  const database = new Database(':memory:');
  database.exec(TABLE);
  const insert = () => {
    database.exec("INSERT INTO sold VALUES ('ord_1')");
  };
  const shop = createReceiver({
    secret: SECRET,
    store: sqliteStore(database),
    hooks: { onError() {} },
    // biome-ignore lint/suspicious/noThenProperty: As a query of Drizzle, it runs if something awaits it.
  }).on('order:paid', () => ({ then: insert }), { name: 'sell', transaction: true });
  expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'failed' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(database.prepare('SELECT * FROM sold').all()).toEqual([]);
});

test('a handler may return rows', async () => {
  const database = new Database(':memory:');
  database.exec(TABLE);
  const shop = createReceiver({ secret: SECRET, store: sqliteStore(database) }).on(
    'order:paid',
    ({ tx }) => tx.prepare("INSERT INTO sold VALUES ('ord_1'), ('ord_2') RETURNING order_id").all(),
    { name: 'sell', transaction: true },
  );
  expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(database.prepare('SELECT * FROM sold').all()).toHaveLength(2);
});

test.each<[string, (tx: Database.Database) => void]>([
  ['BEGIN', (tx) => tx.exec('BEGIN')],
  ['transaction()', (tx) => tx.transaction(() => {})()],
])('a handler that calls %s in its transaction fails with advice', async (_, begin) => {
  const onError = vi.fn();
  const store = sqliteStore(new Database(':memory:'));
  const shop = createReceiver({ secret: SECRET, store, hooks: { onError } }).on(
    'order:paid',
    ({ tx }) => begin(tx),
    { name: 'sell', transaction: true },
  );
  expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
  const advice = {
    code: 'handler_invalid',
    message: expect.stringMatching(/Leave out BEGIN.*SAVEPOINT/),
    cause: { message: expect.stringContaining('within a transaction') },
  };
  expect(onError.mock.calls).toMatchObject([[advice, { handler: 'sell' }]]);
});

test('a handler that awaits before it writes is told that each retry repeats the write', async () => {
  const database = new Database(':memory:');
  database.exec(TABLE);
  const sell = async (tx: Database.Database) => {
    await Promise.resolve();
    tx.exec("INSERT INTO sold VALUES ('ord_1')");
  };
  const onError = vi.fn();
  const shop = createReceiver({ secret: SECRET, store: sqliteStore(database), hooks: { onError } });
  shop.on('order:paid', ({ tx }) => sell(tx), { name: 'sell', transaction: true });
  for (const sold of [1, 2]) {
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'failed' });
    expect(database.prepare('SELECT * FROM sold').all()).toHaveLength(sold);
    expect(onError.mock.lastCall?.[0].message).toContain('each retry repeats them');
  }
});

test('a commit of the seller still waits for the disk', async () => {
  const database = new Database(':memory:');
  const shop = shopOn(database);
  const level = () => database.prepare('PRAGMA synchronous').get();
  await deliver(shop, paidOrder(), { id: 'whl_1' });
  expect(level()).toMatchObject({ synchronous: 2 });
  // An open transaction of the seller, in which the setting cannot change.
  database.exec('BEGIN');
  expect(await deliver(shop, paidOrder(), { id: 'whl_2' })).toMatchObject({ status: 503 });
  database.exec('COMMIT');
  expect(await deliver(shop, paidOrder(), { id: 'whl_2' })).toMatchObject({ outcome: 'handled' });
  expect(level()).toMatchObject({ synchronous: 2 });
});

/** Records the level of `synchronous` at each commit: 2 waits for the disk, and 1 does not. */
function watchCommits(database: Database.Database): unknown[] {
  const levels: unknown[] = [];
  const exec = database.exec.bind(database);
  database.exec = (statements: string) => {
    if (statements === 'COMMIT') levels.push(database.prepare('PRAGMA synchronous').get());
    return exec(statements);
  };
  return levels;
}

test('a claim is on the disk, and renewed, before an order is confirmed', async () => {
  const database = new Database(':memory:');
  const levels = watchCommits(database);
  const store = sqliteStore(database);
  const claim = vi.spyOn(store, 'claim');
  let beforehand: unknown[] = [];
  const confirm = async () => {
    beforehand = [...levels];
    return { state: 'agreed', kept: false } as const;
  };
  const shop = createReceiver({ secret: SECRET, store, confirm });
  shop.on('order:paid', () => {}, { name: 'sell', transaction: true });
  expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(beforehand).toMatchObject([{ synchronous: 2 }]);
  // The time limit of a handler is 60 s: a lease of a transaction, which is not renewed, is longer.
  expect(claim.mock.lastCall?.[1].leaseMs).toBeLessThan(60_000);
});

test('a completion that shares its commit with the claim of a transaction is on the disk', async () => {
  const database = new Database(':memory:');
  const store = sqliteStore(database);
  const terms = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };
  const delivery = newDelivery();
  const claim = await store.claim(delivery, terms);
  if (claim.state !== 'acquired') throw new Error('It was not claimed.');
  const levels = watchCommits(database);
  await Promise.all([
    store.complete(delivery.key, claim.fence, terms.keepMs),
    store.claim(newDelivery(), { ...terms, isTransaction: true }),
  ]);
  expect(levels).toEqual([expect.objectContaining({ synchronous: 2 })]);
});

test('a delivery that a claim finds dead is on the disk before the answer', async () => {
  const database = new Database(':memory:');
  const levels = watchCommits(database);
  const store = sqliteStore(database);
  const delivery = newDelivery();
  const terms = { leaseMs: 0, keepMs: 60_000, maxCrashes: 1, isTransaction: true };
  expect(await store.claim(delivery, { ...terms, owner: 'a' })).toMatchObject({ attempt: 1 });
  expect(levels.at(-1)).toMatchObject({ synchronous: 1 });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await store.claim(delivery, { ...terms, owner: 'b' })).toEqual({ state: 'dead' });
  expect(levels.at(-1)).toMatchObject({ synchronous: 2 });
});

describe('when it is registered, a handler', () => {
  const sell = async () => {};
  const methods = {
    async2() {},
    async *lines() {},
  };
  const register = (handler: () => void) =>
    createReceiver({ secret: SECRET, store: sqliteStore(new Database(':memory:')) }).on(
      'order:paid',
      handler,
      { name: 'sell', transaction: true },
    );

  test.each([
    ['begins with "async" in its name', methods.async2],
    ['is a mock', vi.fn()],
    ['calls an async function', () => void sell()],
  ])('that %s is accepted', (_, handler) => {
    expect(() => register(handler)).not.toThrow();
  });

  test.each([
    ['is async', sell],
    ['is async and bound', sell.bind(null)],
    ['is an async generator', methods.lines],
  ])('that %s is rejected', (_, handler) => {
    expect(() => register(handler)).toThrow(/returns no promise/);
  });
});

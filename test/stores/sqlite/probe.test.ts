import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import AsyncDatabase from 'libsql/promise';
import { createReceiver } from 'storefront-webhooks';
import { type SqliteDatabase, sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { replay } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newDelivery } from '../suite.js';

const TERMS = { owner: 'a', leaseMs: 60_000, keepMs: 60_000, maxCrashes: 5 };

let lines: string[];
beforeEach(() => {
  lines = [];
  for (const level of ['warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'probe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'shop.db');
}

function open(path: string): Database.Database {
  const database = new Database(path);
  onTestFinished(() => void database.close());
  return database;
}

/** A database whose statements return rows in another form. */
function inForm(form: 'raw' | 'pluck'): SqliteDatabase {
  const database = open(':memory:');
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return statement.reader ? statement[form](true) : statement;
    },
  };
}

describe('a database whose rows cannot be read is rejected when the store is made', () => {
  test.each<[string, () => unknown, RegExp]>([
    [
      'an asynchronous one',
      () => new AsyncDatabase(':memory:', {}),
      /answer at once, by get\(\) and all\(\)/,
    ],
    [
      'one whose statements lack get(), as those of D1',
      () => ({ exec() {}, prepare: () => ({ all: async () => ({ results: [] }) }) }),
      /answer at once.*for D1, there is d1Store/,
    ],
    [
      'one that returns arrays',
      () => inForm('raw'),
      /needs rows with the names of their columns.*returns arrays/,
    ],
    [
      'one that is closed',
      () => {
        const database = new Database(':memory:');
        database.close();
        return database;
      },
      /needs an open database, and this one cannot be read: .*not open/,
    ],
    [
      'the asynchronous client of libsql',
      () => ({ execute() {}, executeMultiple() {}, batch() {} }),
      /an object of @libsql\/client\. Pass a database of libsql: new Database\("webhooks\.db"\)/,
    ],
    [
      "TypeORM's DataSource",
      () => ({ query() {}, initialize() {}, createQueryRunner() {} }),
      /TypeORM\. Pass its database, dataSource\.driver\.databaseConnection/,
    ],
    ['a promise', () => Promise.resolve(open(':memory:')), /and not a promise: await it/],
  ])('%s', async (_, make, message) => {
    const given = make() as SqliteDatabase;
    const expected = { code: 'client_invalid', message: expect.stringMatching(message) };
    expect(() => sqliteStore(given)).toThrow(expect.objectContaining(expected));
    const effect = { key: newDelivery().key, handler: 'sale' };
    await expect(sqliteLedger().transaction(given, effect, () => {})).rejects.toMatchObject(
      expected,
    );
  });

  test('unlike one whose integers are BigInts', async () => {
    const database = open(':memory:').defaultSafeIntegers(true);
    expect(await sqliteStore(database).claim(newDelivery(), TERMS)).toMatchObject({ attempt: 1 });
  });
});

test('a database is probed once, for any number of deliveries and effects', async () => {
  const database = open(':memory:');
  const prepared = vi.spyOn(database, 'prepare');
  const ledger = sqliteLedger();
  const store = sqliteStore(database);
  for (let delivery = 0; delivery < 3; delivery++) {
    await store.claim(newDelivery(), TERMS);
    await ledger.transaction(database, { key: newDelivery().key, handler: 'sale' }, () => {});
  }
  expect(prepared.mock.calls.filter(([sql]) => sql === 'SELECT 1 AS probe')).toHaveLength(1);
});

test("a handler that awaits in a transaction on the store's connection is named in the error", async () => {
  const database = open(newFile());
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let goOn = () => {};
  const paused = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const receiver = createReceiver({ secret: 'whsec_1', store: sqliteStore(database) })
    .on('order:paid', async () => {
      database.exec('BEGIN');
      arrive();
      await paused;
      database.exec('COMMIT');
    })
    .on('order:created', () => {});
  const first = replay(receiver, 'order:paid');
  await arrived;
  expect(await replay(receiver, 'order:created')).toMatchObject({ status: 503 });
  goOn();
  expect(await first).toMatchObject({ status: 200 });
  expect(lines.filter((line) => line.includes('has begun a transaction'))).toEqual([
    expect.stringMatching(
      /a handler must not await anything\. Give the store a connection of its own, or register the handler with \{ transaction: true \}/,
    ),
  ]);
  expect(await replay(receiver, 'order:created')).toMatchObject({ status: 200 });
});

describe('a file that cannot have a WAL', () => {
  test('is logged once, because it may be on a network drive', async () => {
    const store = sqliteStore(open(`file:${newFile()}?vfs=unix-none`));
    for (let delivery = 0; delivery < 2; delivery++) await store.claim(newDelivery(), TERMS);
    expect(lines).toEqual([
      'storefront-webhooks: SQLite could not switch shop.db to WAL (its journal_mode is delete). If the file is on a ' +
        'network drive, its locks may not hold, and a delivery can be handled twice. Move it to a local disk. See ' +
        'node_modules/storefront-webhooks/docs/operate.md#sqlite-no-wal',
    ]);
  });

  test('is read under the lock, because a reader without it could fail the commit of a writer', async () => {
    const database = open(`file:${newFile()}?vfs=unix-none`);
    const exec = vi.spyOn(database, 'exec');
    await sqliteStore(database).count({ state: 'dead' });
    expect(exec.mock.calls.flat().filter((sql) => sql.startsWith('BEGIN'))).toEqual([
      'BEGIN IMMEDIATE',
    ]);
  });

  test.each([':memory:', '', 'a file'])('is not %j on a local disk', async (path) => {
    await sqliteStore(open(path === 'a file' ? newFile() : path)).claim(newDelivery(), TERMS);
    expect(lines).toEqual([]);
  });
});

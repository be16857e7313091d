import { randomUUID } from 'node:crypto';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import postgres from 'postgres';
import { createReceiver } from 'storefront-webhooks';
import { type PostgresClient, postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { replay } from 'storefront-webhooks/testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Value } from '../../../src/stores/postgres/client.js';
import { openPglite } from '../../support/pglite.js';
import { acquire, KEEP_MS, LONG_AGO_MS, newDelivery, STARTING_MS, terms } from './claiming.js';

const URL = 'postgres://shop@127.0.0.1:1/shop';
const TEXT = 25;

let database: PGlite;
beforeAll(async () => {
  database = await openPglite();
}, STARTING_MS);

type Answer = Awaited<ReturnType<PGlite['query']>>;

/** A client with answers of another form, which plain JavaScript may pass. */
function client(
  toForm: (answer: Answer) => unknown,
  options: Parameters<PGlite['query']>[2] = {},
): PostgresClient {
  const query = async (text: string, values?: Value[]) =>
    toForm(await database.query(text, values, options));
  return { query } as PostgresClient;
}

const rows = ({ rows }: Answer) => rows;
const renamed = (rename: (name: string) => string) =>
  client(({ rows }) => ({
    rows: rows.map((row) =>
      Object.fromEntries(Object.entries(Object(row)).map(([name, value]) => [rename(name), value])),
    ),
  }));

/** Uses each kind of column: texts, numbers, bodies and steps. */
async function use(store: ReturnType<typeof postgresStore>) {
  const delivery = { ...newDelivery(), scope: randomUUID() };
  const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
  expect(await store.completeStep(delivery.key, fence, 'mail', { sent: [1] })).toBe(true);
  const [stalled] = await store.list({ state: 'stalled', scope: delivery.scope });
  expect(Buffer.from(stalled?.body ?? []).toString()).toBe('{"id":"ord_1"}');
  expect(await store.count({ state: 'stalled', scope: delivery.scope })).toBe(1);
  const next = await acquire(store, delivery);
  expect(next).toMatchObject({ attempt: 2, steps: { mail: { sent: [1] } } });
  const others = [newDelivery(), newDelivery()];
  expect(await Promise.all(others.map((one) => store.claim(one, terms())))).toMatchObject([
    { state: 'acquired' },
    { state: 'acquired' },
  ]);
  expect(await store.complete(delivery.key, next.fence, KEEP_MS)).toBe(true);
  expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
}

describe('the rows of a client are read', () => {
  test.each<[string, () => PostgresClient]>([
    ['if it returns the rows themselves, as Neon does', () => client(rows)],
    [
      'if it returns them beside their number, as TypeORM does',
      () => client(({ rows }) => [rows, rows.length]),
    ],
    [
      'if it returns them as arrays beside the names of their columns',
      () => client((answer) => answer, { rowMode: 'array' }),
    ],
    [
      'if it returns texts as bytes',
      () => client((answer) => answer, { parsers: { [TEXT]: (text) => Buffer.from(text) } }),
    ],
    [
      'if it has a method `unsafe` that runs nothing, as Neon has',
      () => Object.assign(client(rows), { unsafe: () => ({}) }),
    ],
  ])('%s', (_, make) => use(postgresStore(make())));

  test('by a ledger in the transaction of another library, too', async () => {
    const ledger = postgresLedger(database);
    const effect = { key: newDelivery().key, handler: 'sale' };
    const enter = () =>
      database.transaction((tx) => {
        const manager = {
          query: async (text: string, values?: Value[]) => (await tx.query(text, values)).rows,
        };
        return ledger.once(manager as unknown as PostgresClient, effect);
      });
    expect(await enter()).toBe(true);
    expect(await enter()).toBe(false);
  });
});

describe('a client whose rows cannot be read is rejected at its first answer, with the option to change', () => {
  test.each<[string, () => PostgresClient, RegExp]>([
    ['nothing', () => client(() => undefined), /returned no rows\. Pass a Pool or Client of pg/],
    ['no row', () => client(() => []), /returned no row for a SELECT/],
    [
      'arrays alone',
      () => client(rows, { rowMode: 'array' }),
      /as arrays\. Leave out rowMode: 'array', arrayMode of Neon, or transform\.row of postgres\.js/,
    ],
    [
      'other names',
      () => renamed((name) => name.toUpperCase()),
      /changes the names of columns: "probe" came back as "PROBE"\. Leave out transform\.column of postgres\.js/,
    ],
    [
      'objects for texts',
      () => client((answer) => answer, { parsers: { [TEXT]: (text) => ({ text }) } }),
      /changes texts.*a parser for text in `types` of pg or postgres\.js or in `parsers` of PGlite/,
    ],
    [
      'trimmed texts',
      () => client((answer) => answer, { parsers: { [TEXT]: (text) => text.replaceAll(' ', '') } }),
      /changes texts/,
    ],
    [
      'numbers for texts of digits',
      () =>
        client((answer) => answer, {
          parsers: { [TEXT]: (text) => (/^\d+$/.test(text) ? Number(text) : text) },
        }),
      /changes texts/,
    ],
  ])('%s', async (_, make, message) => {
    const store = postgresStore(make());
    const delivery = newDelivery();
    for (const _ of [1, 2]) {
      await expect(store.claim(delivery, terms())).rejects.toMatchObject({
        code: 'client_invalid',
        message: expect.stringMatching(message),
      });
    }
  });

  test('a client of pg that was never connected, before any wait', async () => {
    const expected = {
      code: 'client_invalid',
      message: expect.stringMatching(/was never connected: await client\.connect\(\) first/),
    };
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const store = postgresStore(new pg.Client(`${URL}?query_timeout=1000`));
    await expect(store.claim(newDelivery(), terms())).rejects.toMatchObject(expected);
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
  });
});

test('the probe is one statement for each store, and no delivery after the first sends it', async () => {
  const texts: string[] = [];
  const store = postgresStore({
    query: async (text: string, values?: Value[]) => {
      texts.push(text);
      return database.query(text, values);
    },
  });
  await Promise.all([acquire(store, newDelivery()), acquire(store, newDelivery())]);
  const first = texts.length;
  await acquire(store, newDelivery());
  expect(texts.filter((text) => text.includes('AS probe'))).toHaveLength(1);
  expect(texts[0]).toContain('AS probe');
  expect(texts).toHaveLength(first + 1);
});

test('a receiver answers 503, and stderr names the option to change', async () => {
  const lines: string[] = [];
  const written = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line));
  const store = postgresStore(renamed((name) => `c_${name}`));
  const receiver = createReceiver({ secret: 'whsec_1', store }).onPaid(() => {});
  expect(await replay(receiver, 'order:paid')).toMatchObject({ status: 503 });
  written.mockRestore();
  expect(lines[0]).toMatch(/the store.*store_unavailable|could not grant the claim/);
  expect(lines[0]).toContain('"probe" came back as "c_probe"');
});

describe('an object that is built on a driver is rejected at once', () => {
  const f = () => {};
  test.each<[string, object, RegExp]>([
    [
      'a DataSource',
      { query: f, initialize: f, createQueryRunner: f },
      /TypeORM\. Pass its pool of pg, dataSource\.driver\.master, after/,
    ],
    [
      'an EntityManager',
      { query: f, getTreeRepository: f, transaction: f },
      /TypeORM\. Pass its pool/,
    ],
    [
      'Sequelize',
      { query: f, getQueryInterface: f },
      /Sequelize\. Pass a pool of its own: new pg\.Pool/,
    ],
    ['Prisma', { $queryRawUnsafe: f }, /Prisma\. Pass a pool of its own/],
    ['Drizzle', { select: f, $with: f }, /Drizzle\. Pass its client, db\.\$client/],
    [
      'pg-promise',
      { query: f, oneOrNone: f, manyOrNone: f },
      /pg-promise\. Pass its pool, db\.\$pool/,
    ],
    ['a promise of a client', Promise.resolve(), /not a promise: await it/],
  ])('%s', (_, given, message) => {
    const expected = expect.objectContaining({
      code: 'client_invalid',
      message: expect.stringMatching(message),
    });
    expect(() => postgresStore(given as PostgresClient)).toThrow(expected);
    expect(() => postgresLedger(given as PostgresClient)).toThrow(expected);
  });

  test('unlike the clients of the drivers', () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    for (const given of [new pg.Pool(), new pg.Client(), postgres(URL), database]) {
      expect(postgresStore(given).durable).toBe(true);
    }
    warned.mockRestore();
  });
});

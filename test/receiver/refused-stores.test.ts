import { Redis } from 'ioredis';
import Keyv from 'keyv';
import Database from 'libsql';
import pg from 'pg';
import postgres from 'postgres';
import { createClient } from 'redis';
import { createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { createStorage } from 'unstorage';
import { expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';

/** Fakes with the store's methods. A real one is tested in workerd. */
const workersKv = { get() {}, put() {}, list() {}, delete() {}, getWithMetadata() {} };
const d1 = { prepare() {}, batch() {}, exec() {}, withSession() {}, dump() {} };

test.each([
  ['Workers KV', workersKv, 'durableObjectStore(…) or d1Store(…)'],
  ['keyv', new Keyv(), 'postgresStore(…) or redisStore(…)'],
  ['unstorage', createStorage(), 'postgresStore(…) or redisStore(…)'],
])('%s is rejected as a store, with the reason and an alternative', (name, given, instead) => {
  const store = given as unknown as IdempotencyStore;
  expect(() => createReceiver({ secret: SECRET, store })).toThrow(
    expect.objectContaining({
      code: 'option_invalid',
      message: expect.stringMatching(
        new RegExp(
          `${name} does not work: it cannot compare and set.*${instead.replace(/[().]/g, '\\$&')}`,
        ),
      ),
    }),
  );
});

test('a service binding of Workers, which seems to have every method, is rejected', () => {
  const store = new Proxy({}, { get: () => () => {} }) as unknown as IdempotencyStore;
  expect(() => createReceiver({ secret: SECRET, store })).toThrow(/a stub or a service binding/);
});

test('any other object is rejected without a reason', () => {
  const store = new Map() as unknown as IdempotencyStore;
  expect(() => createReceiver({ secret: SECRET, store })).toThrow(
    'createReceiver: the option store has to be a store such as memoryStore(), and not a Map.',
  );
});

test.each([
  ['a pool of pg', new pg.Pool(), 'postgresStore(pool)'],
  ['the sql of postgres.js', postgres(), 'postgresStore(sql)'],
  ['a client of ioredis', new Redis({ lazyConnect: true }), 'redisStore(client)'],
  ['a client of redis', createClient(), 'redisStore(client)'],
  ['a binding of D1', d1, 'd1Store(env.DB)'],
  ['a database of libsql', new Database(':memory:'), 'sqliteStore(database)'],
])('%s is rejected with the function that makes a store of it', (_, given, made) => {
  const store = given as unknown as IdempotencyStore;
  expect(() => createReceiver({ secret: SECRET, store })).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining(made) }),
  );
});

test('the types reject them', () => {
  // @ts-expect-error keyv has no atomic verbs
  expect(() => createReceiver({ secret: SECRET, store: new Keyv() })).toThrow();
  // @ts-expect-error unstorage has none either
  expect(() => createReceiver({ secret: SECRET, store: createStorage() })).toThrow();
});

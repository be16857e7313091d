import { Redis } from 'ioredis';
import Keyv from 'keyv';
import pg from 'pg';
import postgres from 'postgres';
import { createClient } from 'redis';
import { createReceiver, type IdempotencyStore } from 'storefront-webhooks';
import { createStorage } from 'unstorage';
import { expect, test } from 'vitest';
import { SECRET } from '../support/deliver.js';

/** By its verbs; the real one is tried in workerd. */
const workersKv = { get() {}, put() {}, list() {}, delete() {}, getWithMetadata() {} };

test.each([
  ['Workers KV', workersKv, 'durableObjectStore(…) or d1Store(…)'],
  ['keyv', new Keyv(), 'postgresStore(…) or redisStore(…)'],
  ['unstorage', createStorage(), 'postgresStore(…) or redisStore(…)'],
])('%s is refused as a store, with the reason and what to use', (name, given, instead) => {
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

test('a service binding of Workers is refused, which seems to have every method', () => {
  const store = new Proxy({}, { get: () => () => {} }) as unknown as IdempotencyStore;
  expect(() => createReceiver({ secret: SECRET, store })).toThrow(/a stub or a service binding/);
});

test('what is no store at all is refused without a reason', () => {
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
])('%s is no store yet: it says what makes one of it', (_, given, made) => {
  const store = given as unknown as IdempotencyStore;
  expect(() => createReceiver({ secret: SECRET, store })).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining(made) }),
  );
});

test('they are refused by type', () => {
  // @ts-expect-error keyv has no atomic verbs
  expect(() => createReceiver({ secret: SECRET, store: new Keyv() })).toThrow();
  // @ts-expect-error nor has unstorage
  expect(() => createReceiver({ secret: SECRET, store: createStorage() })).toThrow();
});

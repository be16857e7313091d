import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { Redis as Upstash } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import postgres from 'postgres';
import { createClient, createClientPool, createCluster } from 'redis';
import type { PostgresClient } from 'storefront-webhooks/postgres';
import type { RedisClient } from 'storefront-webhooks/redis';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

const URL = 'postgres://shop@127.0.0.1:1/shop';
const LAZY = { lazyConnect: true };
const NODE = { host: '127.0.0.1', port: 1 };
const CLUSTER = { ...LAZY, slotsRefreshTimeout: 1 };
const UPSTASH = { url: 'http://127.0.0.1:1', token: 'token' };
const POOL_LINE =
  /Create it like this: new pg\.Pool\(\{ query_timeout: 5000, connectionTimeoutMillis: 5000, keepAlive: true \}\)\. See node_modules\/storefront-webhooks\/docs\/operate\.md#no-time-limit$/;
const PG_JS_LINE =
  /Create it like this: postgres\(url, \{ connect_timeout: 5, max_pipeline: 1, .*socket/;
const NODE_REDIS_LINE = /pingInterval: 1000, socket: \{ socketTimeout: 5000, reconnectStrategy:/;
const LIMITED_SOCKET = { socketTimeout: 5000, reconnectStrategy: 100 };

const LIMITED_JS = { connect_timeout: 5, socket: () => {} };

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
  // Each line is logged once per process.
  vi.resetModules();
});
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(pg.defaults, { query_timeout: false });
});

async function postgresStore(client: PostgresClient) {
  (await import('storefront-webhooks/postgres')).postgresStore(client);
}
async function redisStore(client: RedisClient) {
  (await import('storefront-webhooks/redis')).redisStore(client);
}

describe('a client that would wait forever is logged with advice', () => {
  test.each<[string, () => PostgresClient, RegExp, RegExp]>([
    [
      'pg.Pool',
      () => new pg.Pool(),
      /has no query_timeout, no connectionTimeoutMillis\./,
      POOL_LINE,
    ],
    [
      'pg.Pool, to connect',
      () => new pg.Pool({ query_timeout: 1 }),
      /has no connectionTimeoutMillis\./,
      POOL_LINE,
    ],
    [
      'pg.Pool, for an answer',
      () => new pg.Pool({ connectionTimeoutMillis: 1 }),
      /has no query_timeout\./,
      POOL_LINE,
    ],
    [
      'pg.Client',
      () => new pg.Client(URL),
      /no query_timeout, and no second connection/,
      POOL_LINE,
    ],
    ['postgres.js', () => postgres(URL), /has no limit for an answer\./, PG_JS_LINE],
  ])('%s', async (_, make, missing, line) => {
    await postgresStore(make());
    expect(lines).toEqual([expect.stringMatching(missing)]);
    expect(lines).toEqual([expect.stringMatching(line)]);
  });

  test.each<[string, () => RedisClient, RegExp, RegExp]>([
    [
      'ioredis',
      () => new Redis(LAZY),
      /has no socketTimeout\./,
      /new Redis\(\{ .*socketTimeout: 5000/,
    ],
    [
      'ioredis, Cluster',
      () => new Cluster([NODE], CLUSTER),
      /has no socketTimeout\./,
      /new Cluster\(nodes, \{ redisOptions: .*socketTimeout: 5000/,
    ],
    [
      'node-redis',
      () => createClient(),
      /has no pingInterval, no socket\.socketTimeout, no socket\.reconnectStrategy\./,
      NODE_REDIS_LINE,
    ],
    [
      'node-redis, which would close for good',
      () => createClient({ pingInterval: 1000, socket: { socketTimeout: 5000 } }),
      /has no socket\.reconnectStrategy\./,
      NODE_REDIS_LINE,
    ],
    [
      'Upstash',
      () => new Upstash(UPSTASH),
      /has no signal\./,
      /signal: \(\) => AbortSignal\.timeout\(5000\)/,
    ],
  ])('%s', async (_, make, missing, line) => {
    await redisStore(make());
    expect(lines).toEqual([expect.stringMatching(missing)]);
    expect(lines).toEqual([expect.stringMatching(line)]);
  });

  test('is logged once, for any number of clients', async () => {
    for (let store = 0; store < 3; store++) await postgresStore(new pg.Pool());
    for (let store = 0; store < 3; store++) await redisStore(new Redis(LAZY));
    expect(lines).toHaveLength(2);
  });
});

describe('nothing is logged for a client', () => {
  const limits = { connectionTimeoutMillis: 5000 };
  test.each<[string, () => PostgresClient]>([
    ['pg.Pool', () => new pg.Pool({ ...limits, query_timeout: 5000 })],
    [
      'pg.Pool, in its connection string',
      () => new pg.Pool({ ...limits, connectionString: `${URL}?query_timeout=5000` }),
    ],
    [
      'pg.Pool, in the defaults',
      () => {
        Object.assign(pg.defaults, { query_timeout: 5000 });
        return new pg.Pool(limits);
      },
    ],
    ['pg.Client', () => new pg.Client(`${URL}?query_timeout=5000`)],
    ['postgres.js', () => postgres(URL, LIMITED_JS)],
    ['PGlite', () => new PGlite()],
    ['a wrapped client', () => ({ query: async () => ({ rows: [] }) })],
  ])('of PostgreSQL that has limits or needs none: %s', async (_, make) => {
    await postgresStore(make());
    expect(lines).toEqual([]);
  });

  test.each<[string, () => RedisClient]>([
    ['ioredis', () => new Redis({ ...LAZY, socketTimeout: 5000 })],
    [
      'ioredis, Cluster',
      () => new Cluster([NODE], { ...CLUSTER, redisOptions: { socketTimeout: 5000 } }),
    ],
    ['node-redis', () => createClient({ pingInterval: 1000, socket: LIMITED_SOCKET })],
    ['node-redis, a pool', () => createClientPool()],
    ['node-redis, a cluster', () => createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })],
    ['Upstash', () => new Upstash({ ...UPSTASH, signal: () => AbortSignal.timeout(5000) })],
  ])('of Redis that has limits or hides them: %s', async (_, make) => {
    await redisStore(make());
    expect(lines).toEqual([]);
  });
});

test('the socket that the page has for postgres.js is the tested one', () => {
  const written = readFileSync('test/stores/postgres/socket.ts', 'utf8');
  const body = written.slice(written.indexOf('function socket'));
  expect(readFileSync('docs/stores.md', 'utf8')).toContain(body);
});

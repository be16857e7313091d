import pg from 'pg';
import type { PostgresClient } from 'storefront-webhooks/postgres';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newDelivery } from './postgres/claiming.js';

const limits = { query_timeout: 1000, connectionTimeoutMillis: 1000 };
const DOWN = { host: '127.0.0.1', port: 1, user: 'shop' };
const LINE =
  /has no listener for its error event, so this process ends as soon as the server ends one of its connections\. Add one: (\w+)\.on\('error', \(error\) => log\(error\.message \|\| error\)\)\. See node_modules\/storefront-webhooks\/docs\/operate\.md#no-error-listener$/;

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line));
  // Each line is logged once per process.
  vi.resetModules();
});
afterEach(() => {
  vi.restoreAllMocks();
});

function quiet(pool: pg.Pool): pg.Pool {
  return pool.on('error', () => {});
}

/** Uses a client that reaches no server. */
async function use(client: PostgresClient) {
  const { postgresStore } = await import('storefront-webhooks/postgres');
  const store = postgresStore(client);
  expect(lines).toEqual([]);
  await expect(store.redrive(newDelivery().key)).rejects.toThrow();
}

test.each<[string, () => PostgresClient, string]>([
  ['a pool of pg', () => new pg.Pool({ ...DOWN, ...limits }), 'pool'],
  [
    'a client of pg',
    () => {
      const client = new pg.Client({ ...DOWN, ...limits });
      client.connect(() => {});
      return client;
    },
    'client',
  ],
])('%s without a listener for errors is logged at the first use, once', async (_, make, name) => {
  const client = make();
  await use(client);
  expect(lines).toEqual([expect.stringMatching(LINE)]);
  expect(LINE.exec(lines[0] ?? '')?.[1]).toBe(name);
  const { postgresStore } = await import('storefront-webhooks/postgres');
  await expect(postgresStore(make()).redrive(newDelivery().key)).rejects.toThrow();
  expect(lines).toHaveLength(1);
});

test('a listener that is added after the store is made counts', async () => {
  const pool = new pg.Pool({ ...DOWN, ...limits });
  const { postgresStore } = await import('storefront-webhooks/postgres');
  const store = postgresStore(pool);
  quiet(pool);
  await expect(store.redrive(newDelivery().key)).rejects.toThrow();
  expect(lines).toEqual([]);
});

test.each<[string, () => PostgresClient]>([
  ['a pool of pg with a listener', () => quiet(new pg.Pool({ ...DOWN, ...limits }))],
  [
    'a wrapped client',
    () => ({
      query: async () => {
        throw new Error('down');
      },
    }),
  ],
])('nothing is logged for %s', async (_, make) => {
  await use(make());
  expect(lines).toEqual([]);
});

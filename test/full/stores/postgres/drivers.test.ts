import pg from 'pg';
import postgres from 'postgres';
import { postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  acquire,
  KEEP_MS,
  LONG_AGO_MS,
  newDelivery,
  STARTING_MS,
} from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

/** The columns that are read. */
async function use(store: ReturnType<typeof postgresStore>) {
  const delivery = { ...newDelivery(), proof: 'the proof' };
  const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
  expect(await store.completeStep(delivery.key, fence, 'mail', { sent: [1] })).toBe(true);
  const [stalled] = await store.list({ state: 'stalled', limit: 1 });
  expect({ ...stalled, body: Buffer.from(stalled?.body ?? []).toString() }).toEqual({
    ...delivery,
    receivedAt: new Date(delivery.receivedAt),
    body: '{"id":"ord_1"}',
    state: 'stalled',
    attempts: 1,
    error: undefined,
    interrupted: true,
    orderId: 'ord_1',
    email: undefined,
    lastTriedAt: new Date(fence),
    dueAt: expect.any(Date),
  });
  const next = await acquire(store, delivery);
  expect(next).toEqual({
    state: 'acquired',
    fence: expect.any(Number),
    attempt: 2,
    steps: { mail: { sent: [1] } },
  });
  expect(next.fence).toBeGreaterThan(fence);
  expect(await store.complete(delivery.key, next.fence, KEEP_MS)).toBe(true);
  expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
  expect(await store.purge(10)).toBe(0);
}

withPostgres('a client of PostgreSQL', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  }, STARTING_MS);

  afterAll(() => server.remove());

  test('may be a pg.Pool, one of its clients, or a pg.Client', async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    await use(postgresStore(pool));
    const pooled = await pool.connect();
    await use(postgresStore(pooled));
    pooled.release();
    await pool.end();
    const client = new pg.Client(server.url);
    await client.connect();
    await use(postgresStore(client));
    await client.end();
  });

  test('may be the sql of postgres.js, a reserved connection, or a transaction', async () => {
    const sql = postgres(server.url);
    await use(postgresStore(sql));
    const reserved = await sql.reserve();
    await use(postgresStore(reserved));
    reserved.release();
    await sql.begin((tx) => use(postgresStore(tx)));
    await sql.end();
  });

  test('may have its own type parsers', async () => {
    const types = {
      getTypeParser: () => (value: string | Buffer) => `<${value}>`,
    };
    const text = (oid: number) => oid === pg.types.builtins.TEXT;
    const pool = new pg.Pool({
      connectionString: server.url,
      types: {
        getTypeParser: (oid: number) => (text(oid) ? String : types.getTypeParser()),
      },
    });
    await use(postgresStore(pool));
    await pool.end();
  });

  test.each([
    ['camel', { transform: postgres.camel }],
    [
      'a custom column transform',
      { transform: { undefined: null, column: { to: postgres.fromCamel } } },
    ],
    ['custom types', { types: { bigint: postgres.BigInt } }],
    ['no prepared statements', { prepare: false }],
    ['no types fetched', { fetch_types: false, max: 1 }],
  ])('may be a postgres.js with %s', async (_, options) => {
    const sql = postgres(server.url, options);
    await use(postgresStore(sql));
    await sql.end();
  });

  test('may have another locale for dates, numbers and intervals', async () => {
    const pool = new pg.Pool({
      connectionString: server.url,
      options: '-c datestyle=German -c intervalstyle=iso_8601 -c timezone=Asia/Kathmandu',
    });
    await use(postgresStore(pool));
    await pool.query('SET extra_float_digits = 0');
    await use(postgresStore(pool));
    await pool.end();
  });
});

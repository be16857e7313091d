import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LAYOUT } from '../../../../src/stores/layout-version.js';
import { installed, withRuntimes } from '../../../runtimes/installed.js';
import { deliveryOf, enter, KEYS, STEPS } from '../../../stores/layouts/deliveries.js';
import { newFolder, openStore } from '../../../stores/sqlite/remote.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';
import { type RedisServer, startRedis, withRedis } from '../../../support/redis.js';

/** Written by the versions of their time: see write.ts. The statements are those of version 0.1.0. */
const FOLDER = 'test/stores/layouts';
const dump = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const layouts = (kind: string) => readdirSync(FOLDER).filter((name) => name.endsWith(kind));

const terms = () => ({
  owner: crypto.randomUUID(),
  leaseMs: 60_000,
  keepMs: 60_000,
  maxCrashes: 5,
});

/** Checks that all deliveries are found and continue from their state. */
async function findsAll(store: IdempotencyStore): Promise<void> {
  for (const key of [KEYS.done, KEYS.effect]) {
    expect(await store.claim(deliveryOf(key), terms())).toEqual({ state: 'done' });
  }
  const retry = await store.claim(deliveryOf(KEYS.retry), terms());
  expect(retry).toMatchObject({ state: 'acquired', attempt: 2, steps: STEPS });
  const fence = retry.state === 'acquired' ? retry.fence : 0;
  expect(await store.renew(KEYS.retry, fence, 60_000)).toBe(true);
  expect(await store.complete(KEYS.retry, fence, 60_000)).toBe(true);
  expect(await store.list({ state: 'stalled' })).toMatchObject([
    { key: KEYS.stalled, proof: 'the proof', attempts: 1, interrupted: true, orderId: 'ord_1' },
  ]);
  expect(await store.list({ state: 'dead' })).toMatchObject([
    { key: KEYS.dead, error: 'it threw', interrupted: false },
  ]);
  expect(await store.redrive(KEYS.dead)).toBe(true);
  expect(await store.claim(deliveryOf(KEYS.dead), terms())).toMatchObject({ attempt: 1 });
}

const NEWER = { layout: LAYOUT + 5, beside: LAYOUT + 1 };
const refused = {
  code: 'schema_newer',
  message: expect.stringMatching(/newer version of this package.*deploy/),
};

withPostgres('in PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let pool: pg.Pool;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  // Each gets a separate database, so that no work continues in another one.
  beforeEach(async () => {
    const name = `layouts_${++databases}`;
    const root = new pg.Client(server.url);
    await root.connect();
    await root.query(`CREATE DATABASE ${name}`);
    await root.end();
    const connectionString = Object.assign(new URL(server.url), { pathname: name }).href;
    admin = new pg.Pool({ connectionString });
    pool = new pg.Pool({ connectionString });
  });
  afterEach(() => Promise.all([admin.end(), pool.end()]));
  afterAll(() => server.remove());

  /** The tables of the previous layout, after an update. */
  const open = async () => {
    await admin.query(dump(layouts('postgres.sql').at(-1) ?? ''));
    await postgresStore(pool).count({ state: 'dead' });
  };

  test.each(layouts('postgres.sql'))('%s is updated', async (name) => {
    await admin.query(dump(name));
    // Two at once, as in a deploy.
    const [store, other] = [postgresStore(pool), postgresStore(admin)];
    await Promise.all([store.count({ state: 'dead' }), other.count({ state: 'dead' })]);
    await findsAll(store);
    const tx = await pool.connect();
    await tx.query('BEGIN');
    expect(await enter(postgresLedger(pool), tx)).toBe(false);
    await tx.query('ROLLBACK');
    tx.release();
  });

  test('fresh tables take the statements of version 0.1.0, as after a rollback', async () => {
    const store = postgresStore(pool);
    await store.count({ state: 'dead' });
    const claim = {
      ...{ key: KEYS.retry, scope: 'shop', id: 'whl_b1', event: 'order:paid', received: 0 },
      ...{ body: 'e30=', proof: null, owner: 'a', lease: 60_000, keep: 60_000, crashes: 5 },
    };
    const text = dump('2.postgres-claim.sql');
    const claimed = await pool.query(text, [JSON.stringify([claim]), 'interrupted']);
    expect(claimed.rows).toMatchObject([{ key: KEYS.retry, state: 'leased', owner: 'a' }]);
    const completion = { key: KEYS.retry, fence: claimed.rows[0].fence, keep: 60_000 };
    const completed = await pool.query(dump('2.postgres-complete.sql'), [
      JSON.stringify([completion]),
    ]);
    expect(completed.rows).toEqual([{ key: KEYS.retry }]);
    expect(await store.claim(deliveryOf(KEYS.retry), terms())).toEqual({ state: 'done' });
  });

  test('a layout of a later version is rejected and left unchanged', async () => {
    const { layout, beside } = NEWER;
    await open();
    for (const table of ['webhook_delivery', 'webhook_effect']) {
      await admin.query(
        `COMMENT ON TABLE ${table} IS 'storefront-webhooks, layout ${layout}, beside ${beside}'`,
      );
    }
    await expect(postgresStore(pool).claim(deliveryOf(KEYS.done), terms())).rejects.toMatchObject(
      refused,
    );
    const tx = await pool.connect();
    await tx.query('BEGIN');
    await expect(enter(postgresLedger(pool), tx)).rejects.toMatchObject(refused);
    await tx.query('ROLLBACK');
    tx.release();
    const { rows } = await admin.query(
      `SELECT obj_description(to_regclass('webhook_delivery'), 'pg_class') AS layout`,
    );
    expect(rows).toEqual([{ layout: `storefront-webhooks, layout ${layout}, beside ${beside}` }]);
  });

  test('a layout of a later version that is compatible with this one is used', async () => {
    await open();
    await admin.query(
      `COMMENT ON TABLE webhook_delivery IS 'storefront-webhooks, layout ${LAYOUT + 1}, beside ${LAYOUT}'`,
    );
    expect(await postgresStore(pool).claim(deliveryOf(KEYS.done), terms())).toEqual({
      state: 'done',
    });
  });
});

withRuntimes('in SQLite', () => {
  const open = async (sql: string) => {
    const file = join(newFolder(), 'webhooks.db');
    const store = await openStore([installed('node22/bin/node')], 'node:sqlite', file);
    for (const statement of sql.split(';\n').filter((text) => text.trim())) {
      await store.exec(statement);
    }
    return store;
  };

  test.each(layouts('sqlite.sql'))('%s is updated', async (name) => {
    const store = await open(dump(name));
    await findsAll(store);
    const [newest] = await store.sql('SELECT max(layout) AS layout FROM webhook_schema');
    expect(newest).toEqual({ layout: LAYOUT });
    await store.stop();
  });

  test('a layout of a later version is rejected and left unchanged', async () => {
    const store = await open(
      `CREATE TABLE webhook_schema (layout INTEGER PRIMARY KEY, beside INTEGER NOT NULL);\n
       INSERT INTO webhook_schema VALUES (${NEWER.layout}, ${NEWER.beside});\n`,
    );
    await expect(store.claim(deliveryOf(KEYS.done), terms())).rejects.toThrow(
      refused.message.sample,
    );
    expect(await store.sql('SELECT layout FROM webhook_schema')).toEqual([
      { layout: NEWER.layout },
    ]);
    await store.stop();
  });
});

withRedis('in Redis', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.remove();
  });

  test.each(layouts('redis.json'))('%s is updated', async (name) => {
    await client.flushall();
    for (const [command = '', ...args] of JSON.parse(dump(name)) as string[][]) {
      await client.call(command, ...args);
    }
    await findsAll(redisStore(client));
    expect(await client.get('wh:{00}:layout')).toMatch(new RegExp(`^${LAYOUT} `));
  });

  test('a layout of a later version is rejected and left unchanged', async () => {
    await client.set('wh:{00}:layout', `${NEWER.layout} ${NEWER.beside}`);
    const store = redisStore(client);
    await expect(store.claim(deliveryOf(KEYS.done), terms())).rejects.toMatchObject(refused);
    await expect(store.redrive(KEYS.dead)).rejects.toMatchObject(refused);
    expect(await client.get('wh:{00}:layout')).toBe(`${NEWER.layout} ${NEWER.beside}`);
  });
});

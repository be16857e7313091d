import pg from 'pg';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresLedger, postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { COUNT, LIST } from '../../../../src/stores/postgres/statements.js';
import {
  acquire,
  KEEP_MS,
  LONG_AGO_MS,
  newDelivery,
  newKey,
  STARTING_MS,
} from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('the tables in PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let count = 0;
  let database: string;
  const pools: pg.Pool[] = [];

  const connect = (user = 'postgres') => {
    const pool = new pg.Pool({ host: server.host, port: server.port, user, database });
    pools.push(pool);
    return pool;
  };

  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Pool({ connectionString: server.url });
    await admin.query('CREATE ROLE webhooks LOGIN');
  }, STARTING_MS);

  // PostgreSQL 15 lets only the owner of a database create tables in it; earlier versions let every role.
  beforeEach(async () => {
    database = `fresh_${++count}`;
    await admin.query(`CREATE DATABASE ${database}`);
    await connect().query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  });

  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await admin.end();
    await server.remove();
  });

  test('are looked for again if the first query hangs, as over a lost connection', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const pool = connect();
    let isFirst = true;
    const store = postgresStore({
      query: (text, values) => {
        if (!isFirst) return pool.query(text, values);
        isFirst = false;
        return new Promise(() => {});
      },
    });
    try {
      const hung = expect(store.redrive(newKey())).rejects.toMatchObject({ code: 'timed_out' });
      await vi.advanceTimersByTimeAsync(10_000);
      await hung;
    } finally {
      vi.useRealTimers();
    }
    expect(await store.redrive(newKey())).toBe(false);
  });

  test('are created once by twenty processes that start at the same time', async () => {
    const stores = Array.from({ length: 20 }, () => postgresStore(connect()));
    const delivery = newDelivery();
    const claims = await Promise.allSettled(stores.map((store) => acquire(store, delivery)));
    expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const claim of claims) {
      if (claim.status === 'rejected') expect(claim.reason.message).toMatch(/it is busy$/);
    }
  });

  test('are created completely by the printed SQL, which may run twice', async () => {
    const pool = connect();
    for (const _ of ['once', 'twice']) await pool.query(postgresSchema());
    const described = async () =>
      (
        await pool.query(`
          SELECT table_name AS name, column_name AS part, data_type AS kind FROM information_schema.columns
          WHERE table_schema = 'public' UNION ALL
          SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2`)
      ).rows;
    const printed = await described();
    await pool.query('DROP TABLE webhook_delivery, webhook_effect');
    await acquire(postgresStore(pool), newDelivery());
    expect(await described()).toEqual(printed);
    expect(printed.length).toBeGreaterThan(20);
  });

  test('can be used by a role that may not create tables', async () => {
    await connect().query(
      `${postgresSchema()}
      GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_delivery, webhook_effect TO webhooks`,
    );
    const store = postgresStore(connect('webhooks'));
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery, { keepMs: 0 });
    expect(await store.complete(delivery.key, fence, 0)).toBe(true);
    expect(await store.purge(10)).toBe(1);
  });

  test('are requested with an error if the role may not create them, and found when they exist', async () => {
    const store = postgresStore(connect('webhooks'));
    await expect(acquire(store, newDelivery())).rejects.toMatchObject({
      name: 'WebhookError',
      code: 'schema_missing',
      message: expect.stringContaining('postgresSchema()'),
      cause: { code: '42501' },
    });
    await connect().query(`${postgresSchema()} GRANT ALL ON webhook_delivery TO webhooks`);
    expect((await acquire(store, newDelivery())).attempt).toBe(1);
  });

  test('are created again after they were dropped: leases are lost, and deliveries are new', async () => {
    const pool = connect();
    const store = postgresStore(pool);
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    await pool.query('DROP TABLE webhook_delivery, webhook_effect');
    await expect(store.renew(delivery.key, fence, 1_000)).rejects.toMatchObject({ code: '42P01' });
    expect(await store.renew(delivery.key, fence, 1_000)).toBe(false);
    expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
    expect((await acquire(store, delivery)).attempt).toBe(1);
  });

  describe('of the previous version', () => {
    const OLDER = postgresSchema()
      .replace(',\n  proof text', ', lease_ms double precision, max_crashes double precision')
      .replace(',\n  renewed boolean NOT NULL DEFAULT false', '')
      .replace(/^(?:ALTER|COMMENT) .*\n/gm, '');
    const OLDER_CLAIM = `INSERT INTO webhook_delivery (key, scope, id, event, received_at, body, state,
      fence, attempts, failures, owner, lease_ms, max_crashes, not_before, purge_at)
      VALUES (decode($1, 'hex'), 's', 'i', 'e', now(), 'b', 'leased', 1, 1, 0, '', 1, 1, 'epoch', 'infinity')`;
    const proofs = async (store: IdempotencyStore) =>
      (await store.list({ state: 'stalled', limit: 99 }))
        .map(({ proof }) => proof ?? 'none')
        .sort();
    const stall = (store: IdempotencyStore) =>
      acquire(store, { ...newDelivery(), proof: 'the proof' }, { leaseMs: LONG_AGO_MS });

    test('keep a proof from their first use, even while a process of that version is running', async () => {
      const pool = connect();
      await pool.query(OLDER);
      await pool.query(OLDER_CLAIM, [newKey()]);
      const stores = Array.from({ length: 20 }, () => postgresStore(connect()));
      await Promise.all(stores.map(stall));
      await pool.query(OLDER_CLAIM, [newKey()]);
      const expected = ['none', 'none', ...stores.map(() => 'the proof')];
      expect(await proofs(postgresStore(pool))).toEqual(expected);
    });

    test('are updated by the printed SQL', async () => {
      const pool = connect();
      await pool.query(`${OLDER} GRANT ALL ON webhook_delivery, webhook_effect TO webhooks`);
      for (const _ of ['once', 'twice']) await pool.query(postgresSchema());
      const store = postgresStore(connect('webhooks'));
      await stall(store);
      expect(await proofs(store)).toEqual(['the proof']);
    });

    test('are reported if the role may not change them, while the ledger needs no update', async () => {
      const admin = connect();
      await admin.query(`${OLDER} GRANT ALL ON webhook_delivery, webhook_effect TO webhooks`);
      const pool = connect('webhooks');
      const store = postgresStore(pool);
      const missing = { code: 'schema_missing', cause: { code: '42501' } };
      await expect(stall(store)).rejects.toMatchObject(missing);
      const tx = await pool.connect();
      await tx.query('BEGIN');
      const effect = { key: newKey(), handler: 'ship' };
      expect(await postgresLedger(pool).once(tx, effect)).toBe(true);
      await tx.query('COMMIT');
      tx.release();
      await admin.query(postgresSchema());
      await stall(store);
      expect(await proofs(store)).toEqual(['the proof']);
    });

    test('with all columns are used even if the role may not add an index', async () => {
      const open = 'webhook_delivery_open ON webhook_delivery (state, key)';
      await connect().query(
        `${postgresSchema()}
        DROP INDEX webhook_delivery_unfinished; CREATE INDEX ${open};
        COMMENT ON TABLE webhook_delivery IS 'storefront-webhooks, layout 2, beside 1';
        GRANT ALL ON webhook_delivery, webhook_effect TO webhooks`,
      );
      const store = postgresStore(connect('webhooks'));
      await stall(store);
      expect(await proofs(store)).toEqual(['the proof']);
    });

    test('are updated if they are restored under a store in use', async () => {
      const pool = connect();
      const store = postgresStore(pool);
      await stall(store);
      await pool.query(`DROP TABLE webhook_delivery; ${OLDER}`);
      await expect(stall(store)).rejects.toMatchObject({ code: '42703' });
      await stall(store);
      expect(await proofs(store)).toEqual(['the proof']);
    });
  });

  test.each(['dead', 'stalled', 'failing'] as const)(
    'are read for %s deliveries without done rows and stored goods',
    async (state) => {
      const pool = connect();
      await pool.query(postgresSchema());
      await pool.query(`INSERT INTO webhook_delivery (key, scope, id, event, received_at, state, fence,
        attempts, failures, not_before, purge_at)
        SELECT decode(md5(n::text), 'hex'), '', '', '', now(),
          CASE WHEN n % 2 = 0 THEN 'done' ELSE 'retry' END, 1, 1, 0, now(), now()
        FROM generate_series(1, 5000) n`);
      await pool.query('ANALYZE webhook_delivery');
      for (const [text, values] of [
        [LIST[state], ['', '100', null]],
        [COUNT[state], ['100', null]],
      ] as const) {
        const { rows } = await pool.query(`EXPLAIN ANALYZE ${text}`, [...values]);
        const plan = JSON.stringify(rows);
        expect(plan).toContain('webhook_delivery_unfinished');
        expect(plan).not.toContain('Rows Removed by Filter');
      }
    },
  );

  test('are looked for once', async () => {
    const pool = connect();
    let count = 0;
    const store = postgresStore({
      query(text, values) {
        count++;
        return pool.query(text, values);
      },
    });
    await Promise.all([store.redrive(newKey()), store.redrive(newKey())]);
    expect(count).toBe(4);
    await store.redrive(newKey());
    expect(count).toBe(5);
  });
});

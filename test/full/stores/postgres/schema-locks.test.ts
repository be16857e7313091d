import pg from 'pg';
import { postgresLedger, postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acquire, newDelivery, newKey, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const EMPTY = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public';
const LAYOUT_2 = `${postgresSchema()}
  COMMENT ON TABLE webhook_delivery IS 'storefront-webhooks, layout 2, beside 1'`;
const LAYOUT_1 = postgresSchema()
  .replace(',\n  renewed boolean NOT NULL DEFAULT false', '')
  .replace(/^(?:ALTER|COMMENT) .*\n/gm, '');

withPostgres('the tables in PostgreSQL beside a backup', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let backup: pg.PoolClient;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url });
  }, STARTING_MS);
  beforeEach(async () => {
    await pool.query(EMPTY);
    backup = await pool.connect();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    backup.release(true);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  /** Makes tables of an earlier layout, and reads them for as long as the transaction lasts. */
  async function read(tables: string) {
    await pool.query(tables);
    await backup.query('BEGIN; LOCK TABLE webhook_delivery IN ACCESS SHARE MODE');
  }

  /** A store of a process, with the number of its attempts to change the tables. */
  function open() {
    let attempts = 0;
    const store = postgresStore({
      query(text, values) {
        if (text.includes('DO $schema$')) attempts += 1;
        return pool.query(text, values);
      },
    });
    return { store, attempts: () => attempts };
  }

  function passTime(ms: number) {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
  }

  const isImproved = async () => {
    const { rows } = await pool.query(
      `SELECT obj_description(to_regclass('webhook_delivery'), 'pg_class') AS comment`,
    );
    return /layout [3-9]/.test(rows[0].comment);
  };

  test('of the last layout are used as they are, and improved within half an hour', async () => {
    await read(LAYOUT_2);
    const processes = Array.from({ length: 5 }, open);
    const startedAt = performance.now();
    await Promise.all(processes.map(({ store }) => acquire(store, newDelivery())));
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    for (const { store } of processes) await acquire(store, newDelivery());
    expect(processes.map(({ attempts }) => attempts())).toEqual([1, 1, 1, 1, 1]);
    expect(await isImproved()).toBe(false);

    await backup.query('ROLLBACK');
    passTime(1_800_000);
    for (const { store } of processes) await acquire(store, newDelivery());
    expect(await isImproved()).toBe(true);
  });

  test('of an older layout are reported as locked, and leave its processes alone between attempts', async () => {
    await read(LAYOUT_1);
    const { store, attempts } = open();
    const locked = { code: 'store_unavailable', cause: { code: '55P03' } };
    await expect(acquire(store, newDelivery())).rejects.toMatchObject(locked);
    await expect(acquire(store, newDelivery())).rejects.toMatchObject(locked);
    expect(attempts()).toBe(1);

    await backup.query('ROLLBACK');
    passTime(5_000);
    await acquire(store, newDelivery());
    expect(await isImproved()).toBe(true);
  });

  test('are left as they are by a process that waited while another one made them', async () => {
    // Its connection has made them before, so PostgreSQL has looked up most of what it needs for that.
    const one = new pg.Pool({ connectionString: server.url, max: 1 }).on('error', () => {});
    await acquire(postgresStore(one), newDelivery());
    await pool.query(EMPTY);
    const made = postgresSchema().replace(/(beside \d+)'/g, "$1, untouched'");
    await backup.query(`BEGIN; SELECT pg_advisory_xact_lock(7166013302); ${made}`);
    const claimed = acquire(postgresStore(one), newDelivery());
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'`;
    await vi.waitUntil(async () => (await pool.query(waiting)).rowCount === 1);
    await backup.query('COMMIT');
    await claimed;
    const { rows } = await pool.query(
      `SELECT obj_description('webhook_delivery'::regclass, 'pg_class') AS comment`,
    );
    expect(rows[0].comment).toContain('untouched');
    await one.end();
  });

  test('keep the lock_timeout of the transaction in which a ledger makes them', async () => {
    await backup.query(`BEGIN; SET LOCAL lock_timeout = '7s'`);
    const ledger = postgresLedger({ query: () => Promise.reject(new Error('not now')) });
    expect(await ledger.once(backup, { key: newKey(), handler: 'ship' })).toBe(true);
    expect((await backup.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '7s' }]);
    await backup.query('COMMIT');
  });
});

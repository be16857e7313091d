import pg from 'pg';
import postgres from 'postgres';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  acquire,
  EMPTY,
  KEEP_MS,
  LONG_AGO_MS,
  newDelivery,
  STARTING_MS,
  terms,
} from '../../../stores/postgres/claiming.js';
import { type Cut, type Link, startProxy } from '../../../stores/postgres/proxy.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const RETRY = { permanent: false, error: 'it threw' };

withPostgres('the PostgreSQL store', () => {
  let server: PostgresServer;
  let direct: pg.Pool;
  let proxy: Link;

  beforeAll(async () => {
    server = await startPostgres();
    direct = new pg.Pool({ connectionString: server.url });
    await direct.query(postgresSchema());
    proxy = await startProxy(server);
  }, STARTING_MS);

  afterAll(async () => {
    await proxy.close();
    await direct.end();
    await server.remove();
  });

  const drivers = {
    pg() {
      const pool = new pg.Pool({ connectionString: proxy.url });
      pool.on('error', () => {});
      return { store: postgresStore(pool), end: () => pool.end() };
    },
    'postgres.js'() {
      const sql = postgres(proxy.url, { max: 1 });
      return { store: postgresStore(sql), end: () => sql.end() };
    },
  };

  describe.each(['pg', 'postgres.js'] as const)('with %s,', (driver) => {
    let store: IdempotencyStore;
    const delivery = newDelivery();
    let row: () => Promise<{ attempts: number; failures: number; state: string; fence: string }>;

    beforeEach(async () => {
      await direct.query(EMPTY);
      row = async () => (await direct.query('SELECT * FROM webhook_delivery')).rows[0];
    });

    /** Calls, loses the connection, calls again, and returns the second result. */
    async function twice<Result>(when: Cut, ask: () => Promise<Result>): Promise<Result> {
      proxy.cutNext(when);
      await expect(ask()).rejects.toThrow();
      return ask();
    }

    const eachTime = (name: string, run: (when: Cut) => Promise<void>) =>
      test.each(['before', 'after'] as const)(
        `${name} can be repeated if the connection is lost %s its execution`,
        async (when) => {
          const client = drivers[driver]();
          store = client.store;
          // The tables have been found by then.
          await store.list({ state: 'dead', limit: 1 });
          await run(when);
          await client.end();
        },
      );

    eachTime('claim', async (when) => {
      const lease = terms();
      const first = await twice(when, () => store.claim(delivery, lease));
      expect(first).toMatchObject({ state: 'acquired', attempt: 1 });
      expect(await store.claim(delivery, lease)).toEqual(first);
      expect(await row()).toMatchObject({ attempts: 1, failures: 0, state: 'leased' });
    });

    eachTime('renew', async (when) => {
      const { fence } = await acquire(store, delivery);
      expect(await twice(when, () => store.renew(delivery.key, fence, 1_000))).toBe(true);
    });

    eachTime('completeStep', async (when) => {
      const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
      const done = () => store.completeStep(delivery.key, fence, 'mail', 'sent');
      expect(await twice(when, done)).toBe(true);
      expect(await acquire(store, delivery)).toMatchObject({ steps: { mail: 'sent' } });
    });

    eachTime('complete', async (when) => {
      const { fence } = await acquire(store, delivery);
      expect(await twice(when, () => store.complete(delivery.key, fence, KEEP_MS))).toBe(true);
      expect(await store.claim(delivery, terms())).toEqual({ state: 'done' });
    });

    eachTime('fail', async (when) => {
      const { fence } = await acquire(store, delivery);
      expect(await twice(when, () => store.fail(delivery.key, fence, RETRY))).toBe('retry');
      expect(await row()).toMatchObject({ attempts: 1, failures: 1, state: 'retry' });
    });

    eachTime('release', async (when) => {
      const { fence } = await acquire(store, delivery);
      expect(await twice(when, () => store.release(delivery.key, fence))).toBe(true);
      expect(await row()).toMatchObject({ attempts: 0, state: 'retry' });
    });

    eachTime('redrive', async (when) => {
      const { fence } = await acquire(store, delivery);
      await store.fail(delivery.key, fence, { ...RETRY, permanent: true });
      expect(await twice(when, () => store.redrive(delivery.key))).toBe(when === 'before');
      expect(await row()).toMatchObject({ attempts: 0, failures: 0, state: 'retry' });
    });

    eachTime('purge', async (when) => {
      const { fence } = await acquire(store, delivery, { keepMs: 0 });
      await store.complete(delivery.key, fence, 0);
      expect(await twice(when, () => store.purge(10))).toBe(when === 'before' ? 1 : 0);
      expect(await row()).toBeUndefined();
    });

    eachTime('list', async (when) => {
      await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
      const list = () => store.list({ state: 'stalled', limit: 9 });
      expect(await twice(when, list)).toHaveLength(1);
    });
  });
});

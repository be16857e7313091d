import pg from 'pg';
import { type PostgresClient, postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  acquire,
  EMPTY,
  KEEP_MS,
  newDelivery,
  newKey,
  STARTING_MS,
  terms,
} from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('stores that race in PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let pools: pg.Pool[] = [];

  beforeAll(async () => {
    server = await startPostgres({ max_connections: '60' });
    admin = new pg.Pool({ connectionString: server.url });
    await admin.query(postgresSchema());
  }, STARTING_MS);
  beforeEach(async () => {
    await admin.query(EMPTY);
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    pools = [];
  });
  afterAll(async () => {
    await admin.end();
    await server.remove();
  });

  /** A separate store, as in another process, with its statements and the errors of the database. */
  async function open(settings: Record<string, string> = {}) {
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    const pool = new pg.Pool({ connectionString: server.url, max: 4, options: options.join(' ') });
    pools.push(pool);
    const asked: string[] = [];
    const refused: unknown[] = [];
    const client: PostgresClient = {
      async query(text, values) {
        asked.push(text);
        try {
          return await pool.query(text, values);
        } catch (error) {
          refused.push(error instanceof pg.DatabaseError ? error.code : error);
          throw error;
        }
      },
    };
    const store = postgresStore(client);
    await store.redrive(newKey());
    asked.length = 0;
    return { store, asked, refused };
  }

  test('send the claims of one turn in one statement, and the completions as well', async () => {
    const { store, asked } = await open();
    const deliveries = Array.from({ length: 200 }, () => newDelivery());
    const claims = await Promise.all(deliveries.map((one) => acquire(store, one)));
    expect(asked).toHaveLength(1);
    const completed = await Promise.all(
      deliveries.map(({ key }, index) => {
        // Every other completion names a wrong fence.
        const fence = (claims[index]?.fence ?? 0) - (index % 2);
        return store.complete(key, fence, KEEP_MS);
      }),
    );
    expect(asked).toHaveLength(2);
    expect(completed).toEqual(deliveries.map((_, index) => index % 2 === 0));
  });

  test('elect one winner for each of 200 keys claimed in opposite orders, without a deadlock', async () => {
    const stores = await Promise.all([open(), open(), open()]);
    for (let round = 0; round < 5; round++) {
      const deliveries = Array.from({ length: 200 }, () => newDelivery());
      const claimed = await Promise.all(
        stores.map(({ store }, index) => {
          const order = index % 2 === 0 ? deliveries : deliveries.toReversed();
          return Promise.all(
            order.map(async (one) => ({ key: one.key, claim: await store.claim(one, terms()) })),
          );
        }),
      );
      const won = claimed
        .flat()
        .flatMap(({ key, claim }) =>
          claim.state === 'acquired' ? [{ key, fence: claim.fence }] : [],
        );
      expect(new Set(won.map(({ key }) => key)).size).toBe(200);
      expect(won).toHaveLength(200);
      // Each store completes all keys, every second store in the opposite order.
      const completed = await Promise.all(
        stores.map(({ store }, index) => {
          const order = index % 2 === 0 ? won : won.toReversed();
          return Promise.all(order.map(({ key, fence }) => store.complete(key, fence, KEEP_MS)));
        }),
      );
      expect(new Set(completed.flat())).toEqual(new Set([true]));
    }
    expect(stores.flatMap(({ refused }) => refused)).toEqual([]);
  });

  test('elect one winner of forty claims of one key by four stores', async () => {
    const stores = await Promise.all([open(), open(), open(), open()]);
    for (let round = 0; round < 10; round++) {
      const delivery = newDelivery();
      const claims = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          stores[index % stores.length]?.store.claim(delivery, terms()),
        ),
      );
      expect(claims.filter((claim) => claim?.state === 'acquired')).toHaveLength(1);
      expect(claims.filter((claim) => claim?.state === 'busy')).toHaveLength(39);
    }
  });

  test('try again if the isolation is serializable', async () => {
    const serializable = { default_transaction_isolation: 'serializable' };
    const stores = await Promise.all([open(serializable), open(serializable)]);
    for (let round = 0; round < 10; round++) {
      const delivery = newDelivery();
      const claims = await Promise.all(stores.map(({ store }) => store.claim(delivery, terms())));
      const winner = claims.find((claim) => claim.state === 'acquired');
      if (winner?.state !== 'acquired') throw new Error('nobody has won');
      expect(claims.filter((claim) => claim.state === 'busy')).toHaveLength(1);
      const answers = await Promise.all(
        stores.flatMap(({ store }) => [
          store.renew(delivery.key, winner.fence, 10_000),
          store.completeStep(delivery.key, winner.fence, 'mail', null),
        ]),
      );
      expect(answers).toEqual([true, true, true, true]);
      expect(
        await Promise.all(stores.map(({ store }) => store.complete(delivery.key, winner.fence, 0))),
      ).toEqual([true, true]);
      await Promise.all(stores.map(({ store }) => store.purge(10)));
    }
    const refused = stores.flatMap(({ refused }) => refused);
    expect(new Set(refused)).toEqual(new Set(['40001']));
  });

  test('try again while a row stays locked, and then give up', async () => {
    const { store, asked, refused } = await open({ lock_timeout: '20ms' });
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    const other = await admin.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM webhook_delivery FOR UPDATE');
    asked.length = 0;
    await expect(store.claim(delivery, terms())).rejects.toMatchObject({ code: '55P03' });
    // The first statement found that the key is not new, and locks nothing.
    expect(asked).toHaveLength(7);
    expect(refused).toEqual(Array.from({ length: 6 }, () => '55P03'));
    // Another key is not affected.
    expect((await acquire(store, newDelivery())).attempt).toBe(1);

    const renewing = store.renew(delivery.key, fence, 10_000);
    await expect.poll(() => refused.length).toBeGreaterThan(6);
    await other.query('ROLLBACK');
    other.release();
    expect(await renewing).toBe(true);
    expect((await store.claim(delivery, terms())).state).toBe('busy');
  });

  test('purge at the same time, and skip locked rows', async () => {
    const stores = await Promise.all([open(), open()]);
    const deliveries = Array.from({ length: 100 }, () => newDelivery());
    await Promise.all(
      deliveries.map(async (one) => {
        const store = stores[0]?.store ?? postgresStore(admin);
        await store.complete(one.key, (await acquire(store, one, { keepMs: 0 })).fence, 0);
      }),
    );
    const locking = await admin.connect();
    await locking.query('BEGIN');
    await locking.query('SELECT 1 FROM webhook_delivery LIMIT 10 FOR UPDATE');
    const purged = await Promise.all(stores.map(({ store }) => store.purge(60)));
    expect(purged.reduce((sum, count) => sum + count)).toBe(90);
    await locking.query('ROLLBACK');
    locking.release();
    expect(await stores[0]?.store.purge(60)).toBe(10);
  });

  test('do not depend on the clocks of their processes', async () => {
    const { store } = await open();
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      for (const hours of [-24, 24]) {
        vi.setSystemTime(Date.now() + hours * 3_600_000);
        const one = newDelivery();
        const { fence } = await acquire(store, one, { leaseMs: 60_000 });
        const busy = await store.claim(one, terms());
        expect(busy.state === 'busy' && busy.retryAfterMs).toBeGreaterThan(50_000);
        expect(await store.complete(one.key, fence, KEEP_MS)).toBe(true);
        expect(await store.purge(9)).toBe(0);
        vi.setSystemTime(vi.getRealSystemTime());
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test('reject only the claim that the database rejects', async () => {
    const { store } = await open();
    await admin.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.id = 'bad' THEN RAISE 'not this one'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON webhook_delivery FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const ids = ['one', 'bad', 'two'];
    const claims = await Promise.allSettled(
      ids.map((id) => acquire(store, { ...newDelivery(), id })),
    );
    await admin.query('DROP TRIGGER refuse ON webhook_delivery');
    expect(claims.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('keep at most 400 bytes of a done delivery', async () => {
    const { store } = await open();
    const total = 5_000;
    await admin.query('TRUNCATE webhook_delivery');
    for (let count = 0; count < total; count += 100) {
      const deliveries = Array.from({ length: 100 }, (_, index) => ({
        ...newDelivery(),
        id: `whl_${count + index}`.padEnd(30, 'x'),
        body: crypto.getRandomValues(new Uint8Array(1_400)),
      }));
      await Promise.all(
        deliveries.map(async (one) =>
          store.complete(one.key, (await acquire(store, one)).fence, KEEP_MS),
        ),
      );
      // Vacuum, as autovacuum does in production.
      await admin.query('VACUUM webhook_delivery');
    }
    const { rows } = await admin.query(
      `SELECT pg_total_relation_size('webhook_delivery')::int AS bytes`,
    );
    expect(rows[0].bytes / total).toBeLessThanOrEqual(400);
  });
});

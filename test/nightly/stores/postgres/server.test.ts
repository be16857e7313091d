import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  acquire,
  EMPTY,
  KEEP_MS,
  LONG_AGO_MS,
  newDelivery,
  newKey,
  STARTING_MS,
  terms,
} from '../../../stores/postgres/claiming.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('a PostgreSQL server that', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let store: IdempotencyStore;

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url });
    // The server drops idle connections.
    pool.on('error', () => {});
    await pool.query(postgresSchema());
    store = postgresStore(pool);
  }, STARTING_MS);

  beforeEach(async () => {
    await pool.query(EMPTY);
  });

  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  test('crashes under load loses nothing that it has confirmed', async () => {
    const done = new Set<string>();
    const recorded = new Set<string>();
    let refused = 0;
    let isOver = false;
    const work = async (isLeftOpen: boolean) => {
      while (!isOver) {
        const delivery = newDelivery();
        try {
          const lease = isLeftOpen ? { leaseMs: LONG_AGO_MS } : {};
          const { fence } = await acquire(store, delivery, lease);
          if (isLeftOpen) {
            if (await store.completeStep(delivery.key, fence, 'mail', 'sent'))
              recorded.add(delivery.key);
          } else if (await store.complete(delivery.key, fence, KEEP_MS)) done.add(delivery.key);
        } catch {
          refused++;
          await sleep(5);
        }
      }
    };
    const workers = Array.from({ length: 8 }, (_, index) => work(index % 2 === 0));
    for (let crash = 1; crash <= 3; crash++) {
      const enough = done.size + 50;
      await vi.waitUntil(() => done.size >= enough && recorded.size >= 50, 10_000);
      const before = refused;
      await server.stop('immediate');
      await vi.waitUntil(() => refused >= before + 8, 10_000);
      await server.start();
    }
    isOver = true;
    await Promise.all(workers);

    const claims = await Promise.all(
      [...done].map((key) => store.claim(newDelivery(key), terms())),
    );
    expect(new Set(claims.map(({ state }) => state))).toEqual(new Set(['done']));
    const open = await Promise.all([...recorded].map((key) => acquire(store, newDelivery(key))));
    for (const claim of open) expect(claim).toMatchObject({ attempt: 2, steps: { mail: 'sent' } });
  });

  test('is down makes calls reject quickly, and they work again afterwards', async () => {
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    await Promise.all(Array.from({ length: 8 }, () => store.redrive(newKey())));
    expect(pool.idleCount).toBeGreaterThan(1);
    await server.stop('fast');
    const fresh = postgresStore(pool);
    const startedAt = performance.now();
    const answers = await Promise.allSettled([
      store.claim(newDelivery(), terms()),
      store.renew(delivery.key, fence, 10_000),
      store.complete(delivery.key, fence, KEEP_MS),
      fresh.claim(newDelivery(), terms()),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await server.start();
    expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(true);
    expect((await acquire(fresh, newDelivery())).attempt).toBe(1);
  });

  test('is full rejects new deliveries, and keeps the existing ones intact', async () => {
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    // Filling a disk would need a separate one: this raises PostgreSQL's error.
    await pool.query(`
      CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER fill BEFORE INSERT ON webhook_delivery FOR EACH ROW EXECUTE FUNCTION fill()`);
    const other = newDelivery();
    const claims = await Promise.allSettled([
      store.claim(other, terms()),
      store.claim(newDelivery(), terms()),
    ]);
    await pool.query('DROP TRIGGER fill ON webhook_delivery');
    for (const claim of claims) {
      expect(claim).toMatchObject({ status: 'rejected', reason: { code: '53100' } });
    }
    expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(true);
    expect((await acquire(store, other)).attempt).toBe(1);
  });

  test('has lost its tables reports each lease as lost', async () => {
    const delivery = newDelivery();
    const { fence } = await acquire(store, delivery);
    await pool.query('DROP TABLE webhook_delivery, webhook_effect');
    await expect(store.complete(delivery.key, fence, KEEP_MS)).rejects.toThrow(/does not exist/);
    expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
    expect((await acquire(store, delivery)).attempt).toBe(1);
  });
});

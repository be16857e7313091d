import pg from 'pg';
import { createReceiver } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  acquire,
  EMPTY,
  KEEP_MS,
  newDelivery,
  STARTING_MS,
  terms,
} from '../../../stores/postgres/claiming.js';
import { SECRET } from '../../../support/deliver.js';
import { gate } from '../../../support/gate.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('an effect that a transaction in PostgreSQL does', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  const limits = { query_timeout: 5_000, connectionTimeoutMillis: 5_000 };
  const newEffect = () => ({ ...newDelivery(), body: undefined });

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, ...limits });
  }, STARTING_MS);
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  /** A store whose process has a handler with `transaction`. */
  function open() {
    const store = postgresStore(pool);
    createReceiver({ secret: SECRET, store }).on('order:paid', () => {}, {
      name: 'sell',
      transaction: true,
    });
    return store;
  }

  /** Starts a transaction that does the effect until `finish` is called. */
  async function hold(effect: string) {
    const store = open();
    const { key } = newDelivery();
    const { fence } = await acquire(store, newDelivery(key), {
      leaseMs: 70_000,
      isTransaction: true,
    });
    const begun = gate();
    const end = gate();
    const record = { keepMs: KEEP_MS };
    const { signal } = new AbortController();
    const most = { timeoutMs: 60_000, signal, begin: async () => true };
    const running = store.transactions?.run({ key, fence, effect, record, ...most }, () => {
      begun.open();
      return end.opened;
    });
    await begun.opened;
    return async () => {
      end.open();
      await running;
    };
  }

  test('is busy for another process, which does not wait for the handler', async () => {
    const effect = newEffect();
    const store = open();
    const finish = await hold(effect.key);
    const startedAt = performance.now();
    const claim = await store.claim(effect, terms()).finally(finish);
    expect(claim).toEqual({ state: 'busy', retryAfterMs: 1_000 });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(await store.claim(effect, terms())).toEqual({ state: 'done' });
    await pool.query(EMPTY);
  });

  test('fails no claim of another order at the same moment', async () => {
    const effect = newEffect();
    const store = open();
    const finish = await hold(effect.key);
    const others = [newDelivery(), newEffect(), newDelivery(), newEffect()];
    const claims = await Promise.all(
      [effect, ...others].map((one) => store.claim(one, terms())),
    ).finally(finish);
    const acquired = others.map(() => 'acquired');
    expect(claims.map(({ state }) => state)).toEqual(['busy', ...acquired]);
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import postgres from 'postgres';
import type { IdempotencyStore } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { acquire, newDelivery, newKey, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { termsOf } from '../../../stores/postgres/work-of-a-transaction.js';
import { gate } from '../../../support/gate.js';
import { startPgbouncer, withPgbouncer } from '../../../support/pgbouncer.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

interface Driver<Tx> {
  readonly store: IdempotencyStore<Tx>;
  /** Runs a statement, and returns the first column of its first row. */
  read(tx: Tx, statement: string): Promise<unknown>;
  /** Returns how many connections the client has lost. */
  lost(): number;
  close(): Promise<unknown>;
}

const POOL = { max: 2, query_timeout: 5_000, connectionTimeoutMillis: 5_000 };

function openPg(connectionString: string, prepare = true): Driver<pg.PoolClient> {
  const pool = new pg.Pool({ connectionString, ...POOL }).on('error', () => {});
  const onLost = vi.fn();
  pool.on('remove', onLost);
  return {
    store: postgresStore(pool, { prepare }),
    read: async (tx, text) => (await tx.query({ text, rowMode: 'array' })).rows[0]?.[0],
    lost: () => onLost.mock.calls.length,
    close: () => pool.end(),
  };
}

function openPostgresJs(url: string): Driver<postgres.TransactionSql> {
  const onLost = vi.fn();
  const sql = postgres(url, { max: 2, fetch_types: false, onnotice() {}, onclose: onLost });
  return {
    store: postgresStore(sql),
    read: async (tx, text) => Object.values((await tx.unsafe(text))[0] ?? {})[0],
    lost: () => onLost.mock.calls.length,
    close: () => sql.end(),
  };
}

/** Begins the transaction of a new delivery with an effect. */
async function begin<Tx>(
  store: IdempotencyStore<Tx>,
  effect: string,
  work: (tx: Tx) => unknown = () => {},
) {
  const delivery = newDelivery();
  const { fence } = await acquire(store, delivery, { leaseMs: 70_000, isTransaction: true });
  const startedAt = performance.now();
  const result = await store.transactions?.run({ ...termsOf(delivery.key, fence), effect }, work);
  return { ...delivery, fence, result, ms: performance.now() - startedAt };
}

/** Returns an effect with a row, which a handler without a transaction has left. */
async function failEffect(store: IdempotencyStore): Promise<string> {
  const key = newKey();
  const { fence } = await acquire(store, { ...newDelivery(key), body: undefined });
  await store.fail(key, fence, { permanent: false, error: 'no stock' });
  return key;
}

/** Begins a transaction whose handler runs until `finish` is called. */
async function hold<Tx>(store: IdempotencyStore<Tx>, effect: string) {
  const begun = gate();
  const end = gate<'commit' | 'roll back'>();
  const running = begin(store, effect, async () => {
    begun.open();
    if ((await end.opened) === 'roll back') throw new Error('no stock');
  });
  // A test that fails before it finishes would wait for the handler when it closes its clients.
  onTestFinished(() => end.open('commit'));
  await begun.opened;
  return async (how: 'commit' | 'roll back' = 'commit') => {
    end.open(how);
    await running.catch(() => {});
  };
}

/** Tests how a transaction waits for another one that does its effect. */
function describeWaits<Tx>(name: string, open: () => Driver<Tx>, other: () => Driver<unknown>) {
  describe(name, () => {
    let driver: Driver<Tx>;
    let holder: Driver<unknown>;
    beforeEach(() => {
      driver = open();
      holder = other();
      onTestFinished(async () => {
        await driver.close();
        await holder.close();
      });
    });

    test.each([
      ['that is new', async () => newKey()],
      ['that a plain handler failed', () => failEffect(holder.store)],
    ])('is busy after 2 s with an effect %s, and keeps its connection', async (_, newEffect) => {
      const effect = await newEffect();
      const finish = await hold(holder.store, effect);
      const work = vi.fn();
      const waited = await begin(driver.store, effect, work);
      expect(waited.result).toEqual({ state: 'busy' });
      expect(work).not.toHaveBeenCalled();
      expect(waited.ms).toBeGreaterThan(1_900);
      expect(waited.ms).toBeLessThan(3_000);
      // Nothing holds its delivery either.
      expect(await driver.store.release(waited.key, waited.fence)).toBe(true);
      const { result } = await begin(driver.store, newKey(), work);
      expect([result, driver.lost()]).toEqual([{ state: 'done' }, 0]);
      await finish();
      expect(await begin(driver.store, effect)).toMatchObject({ result: { state: 'known' } });
    });

    test.each([
      ['commit', { state: 'known' }],
      ['roll back', { state: 'done' }],
    ] as const)('goes on as soon as the first has ended with a %s', async (how, result) => {
      const effect = newKey();
      const finish = await hold(holder.store, effect);
      const waiting = begin(driver.store, effect);
      await pause(300);
      await finish(how);
      expect(await waiting).toMatchObject({ result });
    });

    test('leaves the limits of the connection to the handler, and to the next one', async () => {
      const limits: unknown[] = [];
      const read = async (tx: Tx) => {
        limits.push(await driver.read(tx, 'SHOW lock_timeout'));
      };
      const effect = newKey();
      const attempt = begin(driver.store, effect, async (tx) => {
        await read(tx);
        throw new Error('no stock');
      });
      await expect(attempt).rejects.toThrow('no stock');
      for (const one of [effect, await failEffect(driver.store)])
        expect(await begin(driver.store, one, read)).toMatchObject({ result: { state: 'done' } });
      expect(limits).toEqual(['7s', '7s', '7s']);
    });
  });
}

withPostgres('a transaction whose effect another one does', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    // Each connection has a limit of its own.
    server = await startPostgres({ lock_timeout: '7s' });
  }, STARTING_MS);
  afterAll(() => server.remove());

  describeWaits(
    'with pg',
    () => openPg(server.url),
    () => openPostgresJs(server.url) as Driver<unknown>,
  );
  describeWaits(
    'with postgres.js',
    () => openPostgresJs(server.url),
    () => openPg(server.url) as Driver<unknown>,
  );

  withPgbouncer('behind PgBouncer in transaction mode', () => {
    let bouncer: Awaited<ReturnType<typeof startPgbouncer>>;
    beforeAll(async () => {
      bouncer = await startPgbouncer(server);
    });
    afterAll(() => bouncer.close());

    describeWaits(
      'with pg',
      () => openPg(bouncer.url, false),
      () => openPostgresJs(server.url) as Driver<unknown>,
    );
  });
});

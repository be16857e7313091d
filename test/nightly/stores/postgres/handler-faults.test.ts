import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { createReceiver, type Order } from 'storefront-webhooks';
import { postgresStore } from 'storefront-webhooks/postgres';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { STARTING_MS } from '../../../stores/postgres/claiming.js';
import { startProxy } from '../../../stores/postgres/proxy.js';
import { TABLE } from '../../../stores/transactions.js';
import { deliver, paidOrder, SECRET } from '../../../support/deliver.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';
import { compileProgram } from '../../../support/program.js';

const ONCE = { name: 'sell', oncePer: (order: Order) => order.id, transaction: true } as const;
const SELL = 'INSERT INTO sold VALUES ($1)';

withPostgres('a handler in a transaction of PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  const open = (max = 4, url = server.url) => {
    const limits = { query_timeout: 5_000, connectionTimeoutMillis: 5_000 };
    return new pg.Pool({ connectionString: url, max, ...limits }).on('error', () => {});
  };
  const sold = async () => (await pool.query('SELECT * FROM sold')).rows.length;
  const idle = async () => {
    const { rows } = await pool.query(
      `SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`,
    );
    return rows.length;
  };
  const onError = vi.fn();
  const receiver = (client = pool, timeout = 60_000) =>
    createReceiver({
      secret: SECRET,
      store: postgresStore(client),
      timeout,
      hooks: { onError, onRejected() {} },
    });

  beforeAll(async () => {
    server = await startPostgres();
    pool = open();
  }, STARTING_MS);
  beforeEach(async () => {
    onError.mockClear();
    await pool.query(`DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${TABLE}`);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  test('that takes too long is rolled back, and leaves no transaction open', async () => {
    const late = vi.fn();
    let tries = 0;
    const shop = receiver(pool, 1_000).on(
      'order:paid',
      async ({ payload, tx, signal }) => {
        await tx.query(SELL, [payload.id]);
        tries += 1;
        if (tries > 1) return;
        await once(signal, 'abort');
        try {
          await tx.query(SELL, ['too late']);
        } catch (error) {
          late(error);
        }
      },
      ONCE,
    );
    expect(await deliver(shop, paidOrder())).toMatchObject({ status: 500, outcome: 'failed' });
    await vi.waitFor(() => expect(late).toHaveBeenCalledTimes(1), 10_000);
    expect(late.mock.calls[0]?.[0]).toMatchObject({ code: 'transaction_missing' });
    await vi.waitFor(async () => expect(await idle()).toBe(0), 10_000);
    expect(await sold()).toBe(0);
    expect(onError.mock.calls.map(([error]) => error.code)).toEqual(['handler_timeout']);
    await vi.waitFor(
      async () => expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' }),
      { timeout: 20_000, interval: 200 },
    );
    expect(await sold()).toBe(1);
  });

  test('cannot use its client after it has ended', async () => {
    let kept: pg.PoolClient | undefined;
    const shop = receiver().on(
      'order:paid',
      async ({ payload, tx }) => {
        await tx.query(SELL, [payload.id]);
        kept = tx;
      },
      ONCE,
    );
    expect(await deliver(shop, paidOrder())).toMatchObject({ outcome: 'handled' });
    await expect(kept?.query(SELL, ['later'])).rejects.toThrow('The transaction is over');
    expect(await sold()).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    'is done once if the connection is lost at COMMIT, %s the server executes it',
    async (when) => {
      const proxy = await startProxy(server);
      const shaky = open(4, proxy.url);
      let tries = 0;
      const shop = receiver(shaky).on(
        'order:paid',
        async ({ payload, tx }) => {
          await tx.query(SELL, [payload.id]);
          tries += 1;
          if (tries === 1) proxy.cutNext(when);
        },
        ONCE,
      );
      const { outcome } = await deliver(shop, paidOrder());
      expect(outcome).toBe(when === 'after' ? 'handled' : 'unavailable');
      await vi.waitFor(async () => {
        const { status } = await deliver(shop, paidOrder());
        expect(status).toBe(200);
      }, 20_000);
      expect(await sold()).toBe(1);
      expect(tries).toBe(when === 'before' ? 2 : 1);
      await shaky.end();
      await proxy.close();
    },
  );

  test('that waits for a connection is not taken over by another process', async () => {
    const pools = [open(2), open(2)];
    const shops = pools.map((client) =>
      receiver(client).on(
        'order:paid',
        async ({ payload, tx }) => {
          await tx.query(SELL, [payload.id]);
          await tx.query('SELECT pg_sleep(0.2)');
        },
        ONCE,
      ),
    );
    const ids = Array.from({ length: 8 }, (_, at) => `ord_${at}`);
    const copies = ids.flatMap((id) =>
      shops.map((shop) => deliver(shop, paidOrder({ id }), { id })),
    );
    const outcomes = (await Promise.all(copies)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'handled')).toHaveLength(ids.length);
    expect(await sold()).toBe(ids.length);
    expect(onError.mock.calls).toEqual([]);
    await Promise.all(pools.map((client) => client.end()));
  });

  test('runs again after a deadlock', async () => {
    await pool.query(`CREATE TABLE stock (id int PRIMARY KEY); INSERT INTO stock VALUES (1), (2)`);
    const runs: string[] = [];
    let locked = 0;
    const lock = 'SELECT * FROM stock WHERE id = $1 FOR UPDATE';
    const shop = receiver().on(
      'order:paid',
      async ({ payload: { id }, tx }) => {
        // The row that the victim gives up is free until the other transaction wakes up: a victim that is faster would
        // take it again, for the next deadlock.
        if (runs.includes(id)) await vi.waitFor(async () => expect(await sold()).toBe(1), 10_000);
        runs.push(id);
        const [first, second] = id === 'ord_a' ? [1, 2] : [2, 1];
        await tx.query(lock, [first]);
        locked += 1;
        await vi.waitFor(() => expect(locked).toBeGreaterThan(1), 10_000);
        await tx.query(lock, [second]);
        await tx.query(SELL, [id]);
      },
      ONCE,
    );
    const results = await Promise.all(
      ['a', 'b'].map((one) => deliver(shop, paidOrder({ id: `ord_${one}` }), { id: `whl_${one}` })),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(['handled', 'handled']);
    expect(runs).toHaveLength(3);
    expect(await sold()).toBe(2);
  });

  test('leaves one connection of the pool for handlers that use the pool as well', async () => {
    const small = open(2);
    const shop = receiver(small).on(
      'order:paid',
      async ({ payload, tx }) => {
        await small.query('SELECT 1');
        await tx.query(SELL, [payload.id]);
      },
      ONCE,
    );
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        deliver(shop, paidOrder({ id: `ord_${n}` }), { id: `whl_${n}` }),
      ),
    );
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['handled']));
    expect(await sold()).toBe(8);
    await small.end();
  });

  test('waits for the disk once', async () => {
    const shop = receiver().on(
      'order:paid',
      async ({ payload, tx }) => {
        await tx.query(SELL, [payload.id]);
      },
      ONCE,
    );
    await deliver(shop, paidOrder({ id: 'ord_first' }), { id: 'whl_first' });
    const syncs = async () => {
      await pool.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await pool.query('SELECT wal_sync::int AS n FROM pg_stat_wal');
      return rows[0].n as number;
    };
    const settle = () => new Promise((resolve) => setTimeout(resolve, 1_200));
    await settle();
    const before = await syncs();
    const count = 100;
    for (let n = 0; n < count; n++)
      await deliver(shop, paidOrder({ id: `ord_${n}` }), { id: `whl_${n}` });
    await settle();
    const each = ((await syncs()) - before) / count;
    // The log writer also flushes five times a second. Two commits would be two.
    expect(each).toBeGreaterThan(0.9);
    expect(each).toBeLessThan(1.8);
  });

  test('of a killed process is taken over at once', async () => {
    const times: number[] = [];
    const shop = receiver().on(
      'order:paid',
      async ({ payload, tx }) => {
        await tx.query(SELL, [payload.id]);
      },
      ONCE,
    );
    await deliver(shop, paidOrder({ id: 'ord_first' }), { id: 'whl_first' });
    const program = await compileProgram(
      'test/nightly/stores/postgres/inside/killed-handler.ts',
      'sources',
    );
    for (let n = 0; n < 20; n++) {
      const child: ChildProcess = spawn(process.execPath, [program, server.url, `${n}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      if (child.stdout) await once(child.stdout, 'data');
      const killedAt = performance.now();
      child.kill('SIGKILL');
      const result = await deliver(shop, paidOrder({ id: `ord_${n}` }), { id: `whl_${n}` });
      times.push(performance.now() - killedAt);
      expect(result).toMatchObject({ outcome: 'handled' });
    }
    expect(await sold()).toBe(21);
    expect(times.toSorted((a, b) => a - b).at(-2)).toBeLessThan(1_000);
  });
});

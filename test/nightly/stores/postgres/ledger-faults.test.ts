import pg from 'pg';
import postgres from 'postgres';
import {
  type PostgresClient,
  postgresLedger,
  postgresSchema,
  type TransactionSource,
} from 'storefront-webhooks/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { newKey, STARTING_MS } from '../../../stores/postgres/claiming.js';
import { type FaultyProxy, startFaultyProxy } from '../../../support/faulty-proxy.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

const SELL = 'UPDATE sold SET amount = amount + 1';
const newEffect = () => ({ key: newKey(), handler: 'ship' });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// An uncaught error fails the run: here, it would have ended the process.
withPostgres('a transaction of the ledger, when its connection breaks,', () => {
  let server: PostgresServer;
  let proxy: FaultyProxy;
  let admin: pg.Pool;
  let pool: pg.Pool;
  let sql: postgres.Sql;

  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Pool({ connectionString: server.url, max: 2 });
    admin.on('error', () => {});
    await admin.query(postgresSchema());
    await admin.query('CREATE TABLE sold (amount integer NOT NULL DEFAULT 0)');
    await admin.query('INSERT INTO sold DEFAULT VALUES');
  }, STARTING_MS);
  afterAll(async () => {
    await admin.end();
    await server.remove();
  });
  beforeEach(async () => {
    proxy = await startFaultyProxy(server.port);
    const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
    pool = new pg.Pool({ connectionString: url, max: 2, query_timeout: 1_000 });
    pool.on('error', () => {});
    sql = postgres(url, { max: 2, backoff: () => 0.05, onnotice: () => {} });
  });
  afterEach(async () => {
    await proxy.close();
    await pool.end();
    await sql.end({ timeout: 1 });
  });

  const sold = async (): Promise<number> =>
    (await admin.query('SELECT amount FROM sold')).rows[0].amount;

  /** Makes the first transaction fail in the middle of its work, and tries it again. */
  async function describeCut<Tx extends PostgresClient>(
    source: TransactionSource<Tx> & PostgresClient,
    sell: (tx: Tx) => PromiseLike<unknown>,
  ) {
    const ledger = postgresLedger(source);
    const works: [name: string, work: (tx: Tx) => Promise<unknown>][] = [
      ['at rest', async () => pause(50)],
      [
        'then a statement',
        async (tx) => {
          await pause(50);
          await sell(tx);
        },
      ],
      [
        'then an error of its own',
        async () => {
          await pause(50);
          throw new Error('own');
        },
      ],
      ['a statement at once', async (tx) => sell(tx)],
      [
        'a statement whose error is caught, and another one',
        async (tx) => {
          await Promise.resolve(sell(tx)).catch(() => {});
          await pause(1);
          await sell(tx);
        },
      ],
    ];
    for (const [name, goOn] of works) {
      const effect = newEffect();
      const before = await sold();
      const cut = ledger.transaction(source, effect, async (tx) => {
        await sell(tx);
        proxy.cut();
        await goOn(tx);
      });
      await expect(cut, name).rejects.toThrow();
      // Pending calls end on any connection.
      await pause(100);
      const again = () => ledger.transaction(source, effect, sell).catch(() => undefined);
      expect(await vi.waitUntil(again, 10_000), name).toBe(true);
      expect(await ledger.transaction(source, effect, sell), name).toBe(false);
      expect(await sold(), name).toBe(before + 1);
    }
  }

  test('rejects, keeps the process alive and leaves the pool usable, with pg', async () => {
    await describeCut(pool, (tx: pg.PoolClient) => tx.query(SELL));
    await vi.waitUntil(() => pool.totalCount === pool.idleCount, 4_000);
  });

  test('rejects, keeps the process alive and leaves the client usable, with postgres.js', async () => {
    await describeCut(sql, (tx: postgres.TransactionSql) => tx.unsafe(SELL));
  });

  test('survives a savepoint within it, with postgres.js', async () => {
    const ledger = postgresLedger(sql);
    const effect = newEffect();
    const before = await sold();
    const cut = ledger.transaction(sql, effect, (tx) =>
      tx.savepoint(async (part) => {
        await part.unsafe(SELL);
        proxy.cut();
        await part.unsafe(SELL);
      }),
    );
    await expect(cut).rejects.toThrow();
    await pause(100);
    const again = await ledger
      .transaction(sql, effect, async (tx) => {
        const failing = tx.savepoint((part) => [part.unsafe(SELL), part`SELECT 1 / 0`]);
        await expect(failing).rejects.toMatchObject({ code: '22012' });
        const [[row]] = await tx.savepoint((part) => [
          part<{ amount: number }[]>`UPDATE sold SET amount = amount + ${1} RETURNING amount`,
        ]);
        expect(row?.amount).toBe(before + 1);
      })
      .catch((error: unknown) => error);
    expect(again).toBe(true);
    expect(await sold()).toBe(before + 1);
  });

  test('reports that the effect was done before, if only the answer to COMMIT was lost', async () => {
    const ledger = postgresLedger(pool);
    const effect = newEffect();
    const before = await sold();
    let isLost = false;
    // The client of the work is another one than the client that commits.
    const losing = (client: pg.PoolClient) => {
      const query: (...args: unknown[]) => unknown = client.query.bind(client);
      vi.spyOn(client, 'query').mockImplementation((...args: unknown[]) => {
        if (args[0] === 'COMMIT' && !isLost) proxy.loseAnswers(1);
        isLost ||= args[0] === 'COMMIT';
        return query(...args);
      });
    };
    pool.on('acquire', losing);
    const lost = ledger.transaction(pool, effect, (tx) => tx.query(SELL));
    await expect(lost).rejects.toThrow();
    pool.off('acquire', losing);
    expect(await ledger.transaction(pool, effect, (tx) => tx.query(SELL))).toBe(false);
    expect(await sold()).toBe(before + 1);
  });

  test('drops a connection that has gone silent', async () => {
    const ledger = postgresLedger(pool);
    const effect = newEffect();
    const before = await sold();
    const started = performance.now();
    const silent = ledger.transaction(pool, effect, async (tx) => {
      proxy.silence();
      await tx.query(SELL);
    });
    await expect(silent).rejects.toThrow('timeout');
    expect(performance.now() - started).toBeLessThan(4_000);
    // The client closes it after it has written the rest.
    await vi.waitUntil(() => pool.totalCount === pool.idleCount, 4_000);
    // The connection on which the ledger has looked for its table may have gone silent as well.
    const again = () => ledger.transaction(pool, effect, (tx) => tx.query(SELL)).catch(() => {});
    expect(await vi.waitUntil(again, 10_000)).toBe(true);
    expect(await sold()).toBe(before + 1);
  });

  test('survives a restart of the server while all of its connections are in use', async () => {
    const ledger = postgresLedger(pool);
    const effects = Array.from({ length: 6 }, newEffect);
    const before = await sold();
    const run = (effect: { key: string; handler: string }, ms: number) =>
      ledger.transaction(pool, effect, async (tx) => {
        await tx.query(SELL);
        await pause(ms);
      });
    const first = Promise.allSettled(effects.map((effect) => run(effect, 500)));
    await pause(100);
    await server.stop('fast');
    expect((await first).every(({ status }) => status === 'rejected')).toBe(true);
    await server.start();
    for (const effect of effects) {
      const again = () => run(effect, 0).catch(() => undefined);
      expect(await vi.waitUntil(again, 10_000)).toBe(true);
    }
    expect(await sold()).toBe(before + effects.length);
  });

  test('a pool without limits abandons connections that have gone silent', async () => {
    const plain = new pg.Pool({ connectionString: pool.options.connectionString, max: 2 });
    plain.on('error', () => {});
    const ledger = postgresLedger(plain);
    const sellOnce = () => ledger.transaction(plain, newEffect(), (tx) => tx.query(SELL));
    await Promise.all([sellOnce(), sellOnce()]);
    proxy.silence();
    const silentAt = performance.now();
    const failed = await Promise.allSettled([sellOnce(), sellOnce()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    // The limit is 5 s; the rest is for a slow machine.
    expect(performance.now() - silentAt).toBeLessThan(12_000);
    expect(await sellOnce()).toBe(true);
    await plain.end();
  });
});

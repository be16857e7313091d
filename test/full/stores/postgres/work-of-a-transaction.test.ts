import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import postgres from 'postgres';
import { postgresLedger, postgresStore } from 'storefront-webhooks/postgres';
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
import {
  BREAK,
  describeWork,
  PIECES,
  runInStore,
  SELL,
  STOCK,
  termsOf,
} from '../../../stores/postgres/work-of-a-transaction.js';
import { newFolder } from '../../../support/folders.js';
import { gate } from '../../../support/gate.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';

withPostgres('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let sql: postgres.Sql;
  const open = (max: number) => {
    const limits = { query_timeout: 5_000, connectionTimeoutMillis: 5_000 };
    return new pg.Pool({ connectionString: server.url, max, ...limits }).on('error', () => {});
  };
  const exec = (statements: string) => pool.query(statements);
  const empty = () => exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${STOCK}`);
  const pieces = async () => Number((await pool.query(PIECES)).rows[0].pieces);
  const effect = () => ({ key: newKey(), handler: 'ship' });

  beforeAll(async () => {
    server = await startPostgres();
    pool = open(4);
    sql = postgres(server.url, { max: 4, fetch_types: false, onnotice() {} });
  }, STARTING_MS);
  beforeEach(async () => {
    await empty();
  });
  afterAll(async () => {
    await Promise.all([pool.end(), sql.end()]);
    await server.remove();
  });

  describeWork('pg', async () => ({
    client: pool,
    store: postgresStore(pool),
    run: (tx: pg.PoolClient, statement) => tx.query(statement),
    exec,
    pieces,
  }));

  describeWork('postgres.js', async () => ({
    client: sql,
    store: postgresStore(sql),
    run: (tx: postgres.TransactionSql, statement) => tx.unsafe(statement),
    exec,
    pieces,
  }));

  describe('the client of a transaction of pg', () => {
    test.each(['release', 'end'] as const)(
      'refuses %s, which would lend it twice',
      async (name) => {
        const store = postgresStore(pool);
        const giveBack = (tx: pg.PoolClient) => tx[name]();
        // Another order begins on the connection that the handler of the first gave back.
        const first = runInStore(store, async (tx) => {
          try {
            await tx.query(SELL);
          } finally {
            giveBack(tx);
          }
          await pause(60);
        });
        await pause(40);
        const delivery = newDelivery();
        const sell = async (tx: pg.PoolClient) => {
          await tx.query(SELL);
          await pause(100);
        };
        const second = await runInStore(store, sell, delivery);
        const { isDone, error } = await first;
        expect(error).toMatchObject({ name: 'UsageError', code: 'transaction_missing' });
        expect(error.message).toContain(`${name}()`);
        expect([isDone, second.isDone]).toEqual([false, true]);
        expect(await pieces()).toBe(9);
      },
    );

    test('may be used by a library that binds its methods', async () => {
      await postgresLedger(pool).transaction(pool, effect(), async (tx) => {
        const { query, escapeIdentifier } = tx;
        expect(escapeIdentifier('a"b')).toBe('"a""b"');
        expect((await query('SELECT $1::text AS a', ['a'])).rows).toEqual([{ a: 'a' }]);
      });
    });

    /** Every way to run a statement of which `pg` reports the error without a promise. */
    type Report = (error: Error | null) => void;
    const statements: Record<string, (tx: pg.PoolClient, text: string, report: Report) => unknown> =
      {
        'a text': (tx, text, report) => tx.query(text, report),
        'a text with values': (tx, text, report) => tx.query(text, [], report),
        'a configuration': (tx, text, report) =>
          tx.query(Object.assign({ text }, { callback: report })),
        'a query object with a callback': (tx, text, report) =>
          Reflect.apply(tx.query, tx, [new pg.Query(text), report]),
        'a query object with a listener': (tx, text, report) =>
          tx
            .query(new pg.Query(text))
            .on('error', report)
            .on('end', () => report(null)),
      };
    test.each(Object.keys(statements))('reports an error where pg would: %s', async (form) => {
      const run = (tx: pg.PoolClient, text: string) =>
        new Promise<void>((resolve, reject) => {
          statements[form]?.(tx, text, (error) => (error ? reject(error) : resolve()));
        });
      let kept: pg.PoolClient | undefined;
      const { isDone, error } = await runInStore(postgresStore(pool), async (tx) => {
        kept = tx;
        await run(tx, SELL);
        await expect(run(tx, 'COMMIT')).rejects.toMatchObject({ code: 'transaction_missing' });
      });
      expect({ isDone, error }).toEqual({ isDone: true, error: undefined });
      const late = async () => kept && (await run(kept, SELL));
      await expect(late()).rejects.toMatchObject({ code: 'transaction_missing' });
      expect(await pieces()).toBe(9);
    });

    test('counts as rolled back if PostgreSQL answers COMMIT with ROLLBACK', async () => {
      const one = open(1);
      const clients: pg.PoolClient[] = [];
      one.on('acquire', (client) => clients.push(client));
      const ledger = postgresLedger(pool);
      const entry = effect();
      const selling = ledger.transaction(one, entry, async (tx) => {
        await tx.query(SELL);
        const [raw] = clients;
        if (!raw) throw new Error('The pool lends a client.');
        const query = raw.query.bind(raw);
        vi.spyOn(raw, 'query').mockImplementation((...args: unknown[]) => {
          if (args[0] === 'COMMIT') query(BREAK).catch(() => {});
          return Reflect.apply(query, raw, args);
        });
      });
      await expect(selling).rejects.toMatchObject({ code: 'transaction_missing' });
      expect(await ledger.entered([entry.key])).toEqual([]);
      await one.end();
    });
  });

  describe('the client of a transaction of postgres.js', () => {
    const ends: Record<string, (tx: postgres.TransactionSql) => PromiseLike<unknown>> = {
      'a template': (tx) => tx`COMMIT`,
      'a template with a fragment': (tx) => tx`${tx`COMMIT`}`,
      'a template of a savepoint': (tx) => tx.savepoint((inner) => inner`COMMIT`),
      'unsafe of a savepoint': (tx) => tx.savepoint('part', (inner) => inner.unsafe('COMMIT')),
      'a cursor': (tx) => tx`COMMIT`.cursor(() => {}),
      'a list of savepoint': (tx) => tx.savepoint((inner) => [inner`SELECT 1`, inner`COMMIT`]),
      prepare: async (tx) => tx.prepare('sold'),
    };
    test.each(Object.keys(ends))('cannot end it: %s', async (name) => {
      const { isDone, error } = await runInStore(postgresStore(sql), async (tx) => {
        await tx.unsafe(SELL);
        await ends[name]?.(tx);
      });
      expect(error).toMatchObject({ name: 'UsageError', code: 'transaction_missing' });
      expect({ isDone, pieces: await pieces() }).toEqual({ isDone: false, pieces: 10 });
    });

    test('runs no query later that was made before the work has ended', async () => {
      const late: (() => PromiseLike<unknown>)[] = [];
      const { isDone } = await runInStore(postgresStore(sql), async (tx) => {
        await tx.unsafe(SELL);
        const [template, text, cursor] = [tx`SELECT 1`, tx.unsafe(SELL), tx`SELECT 1`];
        late.push(
          () => template,
          () => text,
          () => cursor.execute(),
          async () => {
            for await (const _ of tx`SELECT 1`.cursor()) return;
          },
        );
      });
      for (const run of late) {
        const running = async () => await run();
        await expect(running()).rejects.toMatchObject({ code: 'transaction_missing' });
      }
      expect({ isDone, pieces: await pieces() }).toEqual({ isDone: true, pieces: 9 });
    });

    test('may read a file of statements with a cursor', async () => {
      const file = join(newFolder(), 'report.sql');
      await writeFile(file, 'SELECT * FROM generate_series(1, 3)');
      const { isDone } = await runInStore(postgresStore(sql), async (tx) => {
        await tx.unsafe(SELL);
        let rows = 0;
        for await (const some of tx.file(file).cursor(2)) rows += some.length;
        expect(rows).toBe(3);
      });
      expect({ isDone, pieces: await pieces() }).toEqual({ isDone: true, pieces: 9 });
    });

    test('is the own client of the driver in everything else', async () => {
      const [row] = await sql.unsafe('SELECT 1 AS one');
      expect(row).toEqual({ one: 1 });
      await postgresLedger(sql).transaction(sql, effect(), async (tx) => {
        const part = tx`WHERE pieces = ${10} AND ${tx('pieces')} IN ${tx([10, 11])}`;
        expect(await tx`SELECT pieces FROM stock ${part}`).toEqual([{ pieces: 10 }]);
        expect(await tx`SELECT ${tx.json({ a: 1 })}::json AS a`.values()).toEqual([[{ a: 1 }]]);
        await tx`INSERT INTO stock ${tx({ pieces: 3 })}`;
        const undone = tx.savepoint(async (inner) => {
          await inner`DELETE FROM stock`;
          throw new Error('undo');
        });
        await expect(undone).rejects.toThrow('undo');
        expect(await tx.savepoint((inner) => [inner`SELECT 1 AS a`])).toEqual([[{ a: 1 }]]);
      });
      expect((await exec('SELECT * FROM stock')).rows).toHaveLength(2);
    });

    test('rejects a savepoint that the end of the lease cuts off', async () => {
      const store = postgresStore(sql);
      const delivery = newDelivery();
      const lease = { leaseMs: 70_000, isTransaction: true };
      const { fence } = await acquire(store, delivery, lease);
      const end = new AbortController();
      const reason = new Error('The lease has ended.');
      let cut: Promise<unknown> | undefined;
      const work = (tx: postgres.TransactionSql) => {
        cut = tx.savepoint(async (inner) => {
          await inner.unsafe(SELL);
          end.abort(reason);
          await pause(10);
          await inner.unsafe(SELL);
        });
        return cut;
      };
      const terms = { ...termsOf(delivery.key, fence), signal: end.signal };
      await expect(store.transactions?.run(terms, work)).rejects.toBe(reason);
      await expect(cut).rejects.toMatchObject({ code: 'transaction_missing' });
      expect(await pieces()).toBe(10);
    });

    test('fails with the error of a savepoint that nothing reads', async () => {
      let rollback = gate();
      const watched = postgres(server.url, {
        ...{ max: 4, fetch_types: false, onnotice() {} },
        debug: (_, text) => text.startsWith('rollback to') && rollback.open(),
      });
      onTestFinished(() => watched.end());
      const store = postgresStore(watched);
      const fail = async (inner: postgres.TransactionSql) => {
        await inner`SELECT 1`;
        throw new Error('out of licences');
      };
      const untilRolledBack = async (tx: postgres.TransactionSql) => {
        await rollback.opened;
        // PostgreSQL runs it after the rollback, on the same connection.
        await tx.unsafe('SELECT 1');
        // Both answers may arrive together, and the savepoint takes some steps more to reject.
        await nextTurn();
      };
      const unread = await runInStore(store, async (tx) => {
        await tx.unsafe(SELL);
        void tx.savepoint(fail);
        await untilRolledBack(tx);
      });
      expect(unread).toMatchObject({ isDone: false, error: { message: 'out of licences' } });
      expect(await pieces()).toBe(10);
      rollback = gate();
      const readLate = await runInStore(store, async (tx) => {
        await tx.unsafe(SELL);
        const part = tx.savepoint(fail);
        await untilRolledBack(tx);
        await expect(part).rejects.toThrow('out of licences');
      });
      expect(readLate).toEqual({ isDone: true, error: undefined });
      expect(await pieces()).toBe(9);
    });

    test.each(['the store', 'the ledger'])(
      'does not leave out a sale if a savepoint is not awaited in %s',
      async (way) => {
        const ledger = postgresLedger(sql);
        const entry = effect();
        const work = async (tx: postgres.TransactionSql) => {
          await new Promise<void>((begun) => {
            void tx.savepoint(async (inner) => {
              begun();
              await inner`SELECT 1`;
              await inner`SELECT pg_sleep(0.05)`;
              throw new Error('undo');
            });
          });
          await tx.unsafe(SELL);
        };
        const result =
          way === 'the store'
            ? await runInStore(postgresStore(sql), work)
            : await ledger.transaction(sql, entry, work).then(
                () => ({ isDone: true, error: undefined }),
                (error) => ({ isDone: false, error }),
              );
        expect(result).toMatchObject({ isDone: false, error: { code: 'transaction_missing' } });
        expect(await pieces()).toBe(10);
        expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
      },
    );
  });

  test('a handler does not start if its lease ended while its transaction began', async () => {
    const small = open(2);
    const store = postgresStore(small);
    const delivery = newDelivery();
    const lease = { leaseMs: 70_000, isTransaction: true };
    const { fence } = await acquire(store, delivery, lease);
    // Somebody has the row for a moment: an operator, or a backup.
    const other = await pool.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM webhook_delivery FOR UPDATE');
    const end = new AbortController();
    const started = vi.fn(() => new Promise(() => {}));
    const reason = new Error('The lease has ended.');
    const running = store.transactions?.run(
      { ...termsOf(delivery.key, fence), signal: end.signal },
      started,
    );
    const refused = expect(running).rejects.toBe(reason);
    await vi.waitFor(async () => {
      const waiting = await pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
      );
      expect(waiting.rows).toHaveLength(1);
    });
    end.abort(reason);
    await other.query('ROLLBACK');
    other.release();
    await refused;
    expect(started).not.toHaveBeenCalled();
    // The slot for transactions and its connection are free for the next order.
    const next = await runInStore(store, (tx) => tx.query(SELL));
    expect(next).toEqual({ isDone: true, error: undefined });
    expect(small.totalCount - small.idleCount).toBe(0);
    await small.end();
  });
});

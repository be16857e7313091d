import pg from 'pg';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WEBHOOK_SECRET } from '../../examples/shop.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../support/postgres.js';
import { startExample } from '../../support/program.js';

const saved = loadFixture('goods');
const order = JSON.parse(Buffer.from(saved.body).toString());

withPostgres('the shop of licence keys', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, max: 2 });
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  const open = () =>
    startExample('examples/stock/keys.ts', {
      env: { WEBHOOK_SECRET, DATABASE_URL: server.url },
    });
  /** The codes that an order has. */
  const codesOf = async (id: string) => {
    const { rows } = await pool.query('SELECT code FROM licence WHERE order_id = $1', [id]);
    return rows.map(({ code }): string => code).sort();
  };
  const call = (origin: string, changes: object) => {
    const body = Buffer.from(JSON.stringify({ ...order, ...changes }));
    return replay(
      `${origin}/goods`,
      { ...saved, body },
      { secret: WEBHOOK_SECRET, timeout: 20_000 },
    );
  };

  test('sells only the keys that were entered', async () => {
    for (const entered of [0, 100]) {
      const shop = await open();
      await shop.stop();
      const { rows } = await pool.query('SELECT count(*)::int AS n FROM licence');
      expect(rows).toEqual([{ n: entered }]);
      if (entered === 0)
        await pool.query(
          "INSERT INTO licence (code, product) SELECT 'KEY-' || n, $1 FROM generate_series(1, 100) AS n",
          [order.product_id],
        );
    }
  });

  test('an order gets one key, for any number of calls and crashes', async () => {
    const given = new Set<string>();
    const ask = async (origin: string) => {
      const { status, body } = await replay(`${origin}/goods`, 'goods', { secret: WEBHOOK_SECRET });
      if (status === 200) given.add(body);
    };
    for (const killedAfterMs of [0, 30, 60]) {
      const shop = await open();
      const asked = Promise.allSettled(Array.from({ length: 4 }, () => ask(shop.origin)));
      await new Promise((resolve) => setTimeout(resolve, killedAfterMs));
      await shop.stop();
      await asked;
    }
    const shop = await open();
    // A killed process may hold its lease for ten seconds, and the call waits.
    await replay(`${shop.origin}/goods`, 'goods', { secret: WEBHOOK_SECRET, timeout: 20_000 });
    await ask(shop.origin);
    expect([...given]).toEqual([expect.stringMatching(/^KEY-\d+$/)]);
    const taken = await pool.query('SELECT code FROM licence WHERE order_id IS NOT NULL');
    expect(taken.rows).toEqual([{ code: [...given][0] }]);
    const refused = await replay(`${shop.origin}/goods`, 'goods/not-paid', {
      secret: WEBHOOK_SECRET,
    });
    expect(refused).toMatchObject({ status: 422, outcome: 'rejected' });
    shop.terminate();
    expect(await shop.ended).toBe(0);
  });

  describe('while it runs', () => {
    let started: Awaited<ReturnType<typeof open>> | undefined;
    beforeAll(async () => {
      started = await open();
    });
    afterAll(() => started?.stop());
    const originOf = () => started?.origin ?? '';

    test('an order of several keys gets all of them, and each call the same ones', async () => {
      const orders = ['ord_a', 'ord_b', 'ord_c'];
      const calls = orders.flatMap((id) => [1, 2].map(() => call(originOf(), { id, quantity: 3 })));
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      for (const [place, id] of orders.entries()) {
        const codes = await codesOf(id);
        expect(codes).toHaveLength(3);
        for (const { body } of answers.slice(2 * place, 2 * place + 2))
          expect(body.split('\n').sort()).toEqual(codes);
      }
    });

    test('keys that were taken before a crash are the keys of the order', async () => {
      await pool.query(
        "INSERT INTO licence VALUES ('OLD-1', $1, 'ord_crashed', 1), ('OLD-2', $1, 'ord_crashed', 2)",
        [order.product_id],
      );
      const answer = await call(originOf(), { id: 'ord_crashed', quantity: 2 });
      expect(answer).toMatchObject({ status: 200, body: 'OLD-1\nOLD-2' });
      expect(await codesOf('ord_crashed')).toEqual(['OLD-1', 'OLD-2']);
    });

    test('an order gets none if too few are left, or if its quantity is unreadable', async () => {
      for (const [id, quantity] of Object.entries({ ord_many: 1000, ord_text: '3', ord_none: 0 })) {
        expect(await call(originOf(), { id, quantity })).toMatchObject({ status: 500 });
        expect(await codesOf(id)).toEqual([]);
      }
    });

    test('a query that was given up, and still runs, takes no further keys', async () => {
      const asked = { id: 'ord_slow', quantity: 2 };
      const holder = await pool.connect();
      // Reads go on, and writes wait.
      await holder.query('BEGIN; LOCK TABLE licence IN SHARE MODE');
      expect(await call(originOf(), asked)).toMatchObject({ status: 500 });
      const next = call(originOf(), asked);
      await vi.waitFor(async () => {
        const waiting =
          "SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'licence'::regclass AND NOT granted";
        expect((await pool.query(waiting)).rows).toEqual([{ n: 2 }]);
      }, 5000);
      await holder.query('COMMIT');
      holder.release();
      await next;
      expect(await call(originOf(), asked)).toMatchObject({ status: 200 });
      expect(await codesOf('ord_slow')).toHaveLength(2);
    });
  });
});

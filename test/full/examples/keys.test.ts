import pg from 'pg';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WEBHOOK_SECRET } from '../../examples/shop.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../support/postgres.js';
import { startExample } from '../../support/program.js';

const order = JSON.parse(Buffer.from(loadFixture('goods').body).toString());

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
});

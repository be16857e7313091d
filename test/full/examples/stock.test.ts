import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WEBHOOK_SECRET } from '../../examples/shop.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { openStore, type RemoteStore } from '../../stores/sqlite/remote.js';
import { type PostgresServer, startPostgres, withPostgres } from '../../support/postgres.js';
import { startExample } from '../../support/program.js';
import type { Started } from '../../support/start.js';

const order = JSON.parse(Buffer.from(loadFixture('order:paid').body).toString());

interface Shop {
  open(env: Record<string, string>): Promise<Started>;
  run(sql: string): Promise<unknown>;
  count(sql: string): Promise<number>;
}

/** Kills the shop repeatedly during deliveries, and then counts. */
function sellsOnce({ open, run, count }: Shop) {
  const env = { WEBHOOK_SECRET };
  const send = (shop: Started, id: string) =>
    replay(`${shop.origin}/webhooks`, 'order:paid', { id, secret: WEBHOOK_SECRET });

  beforeAll(async () => {
    const shop = await open(env);
    await shop.stop();
    await run(`INSERT INTO stock VALUES ('${order.product_id}', 10)`);
  });

  test('sells only the stock that was entered', async () => {
    const shop = await open(env);
    await shop.stop();
    expect(await count('SELECT count(*) AS n FROM stock')).toBe(1);
    expect(await count('SELECT pieces AS n FROM stock')).toBe(10);
  });

  test('sells nothing of an order whose quantity is unreadable', async () => {
    const shop = await open(env);
    const odd = await replay(`${shop.origin}/webhooks`, 'order:paid/missing-fields', {
      secret: WEBHOOK_SECRET,
    });
    expect(odd).toMatchObject({ outcome: 'failed' });
    expect(shop.output()).toContain('no quantity that is a positive number');
    expect(await count('SELECT pieces AS n FROM stock')).toBe(10);
    await shop.stop();
  });

  test('sells no product that is not in stock', async () => {
    const shop = await open(env);
    const body = Buffer.from(JSON.stringify({ ...order, id: 'ord_other', product_id: 'other' }));
    const saved = { ...loadFixture('order:paid'), body };
    const sold = await replay(`${shop.origin}/webhooks`, saved, { secret: WEBHOOK_SECRET });
    expect(sold).toMatchObject({ outcome: 'failed' });
    expect(await count("SELECT count(*) AS n FROM sale WHERE order_id = 'ord_other'")).toBe(0);
    await shop.stop();
  });

  test('moves the stock once, for any number of retries and crashes', async () => {
    for (let run = 0; run < 3; run++) {
      const shop = await open(env);
      const sent = Array.from({ length: 4 }, (_, copy) => send(shop, `whl_${run}_${copy}`));
      // Stop the shop as soon as one of the copies is answered.
      await Promise.race(sent);
      await shop.stop();
      await Promise.allSettled(sent);
    }
    const shop = await open(env);
    expect(await send(shop, 'last')).toMatchObject({ outcome: 'duplicate' });
    shop.terminate();
    expect(await shop.ended).toBe(0);
    expect(await count('SELECT pieces AS n FROM stock')).toBe(10 - order.quantity);
    expect(await count('SELECT count(*) AS n FROM sale')).toBe(1);
    expect(await count('SELECT count(*) AS n FROM webhook_effect')).toBe(1);
  });
}

withPostgres('the stock in PostgreSQL', () => {
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

  sellsOnce({
    open: (env) =>
      startExample('examples/stock/postgres.ts', {
        env: { ...env, DATABASE_URL: server.url },
      }),
    run: (sql) => pool.query(sql),
    count: async (sql) => Number((await pool.query(sql)).rows[0].n),
  });
});

withRuntimes('the stock in SQLite', () => {
  const node = installed('node22/bin/node');
  let folder: string;
  let database: RemoteStore;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stock-'));
    database = await openStore([node], 'node:sqlite', join(folder, 'shop.db'));
  });
  afterAll(async () => {
    await database.stop();
    rmSync(folder, { recursive: true });
  });

  sellsOnce({
    open: (env) =>
      startExample(
        'examples/stock/sqlite.ts',
        { env: { ...env, DATABASE_FILE: join(folder, 'shop.db') } },
        node,
      ),
    run: (sql) => database.sql(sql),
    count: async (sql) => Number((await database.sql(sql))[0]?.n),
  });
});

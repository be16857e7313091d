import pg from 'pg';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';
import { startExample } from '../../../support/program.js';
import type { Started } from '../../../support/start.js';

const WEBHOOK_SECRET = 'a secret for tests';
const saved = loadFixture('order:paid');
const order = JSON.parse(new TextDecoder().decode(saved.body));

withPostgres('a migration from hand-written code', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let shop: Started;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url, max: 2 });
    await pool.query('CREATE TABLE processed_orders (order_id text PRIMARY KEY)');
    await pool.query("INSERT INTO processed_orders VALUES ('old_1'), ('old_2')");
    shop = await open();
  });
  afterAll(async () => {
    await shop?.stop();
    await pool.end();
    await server.remove();
  });

  const open = () =>
    startExample('examples/recipes/by-hand.ts', {
      env: { WEBHOOK_SECRET, DATABASE_URL: server.url },
    });
  const send = async (id: string, event = 'order:paid', status = 100) => {
    const body = new TextEncoder().encode(JSON.stringify({ ...order, id, status }));
    const options = { event, id: `${id} ${event}`, secret: WEBHOOK_SECRET };
    return (await replay(`${shop.origin}/webhooks`, { ...saved, body }, options)).outcome;
  };

  test('orders that the old code has delivered are skipped, and the others are delivered', async () => {
    expect(await send('old_1')).toBe('duplicate');
    expect(await send('old_2', 'order:updated')).toBe('duplicate');
    expect(await send('new_1', 'order:updated', 0)).toBe('ignored');
    expect(await send('new_1')).toBe('handled');
    expect(await send('new_1', 'order:updated')).toBe('duplicate');
    expect(shop.output().match(/Delivered order \S+/g)).toEqual(['Delivered order new_1']);
  });

  test('a second start and a SIGTERM change nothing', async () => {
    shop.terminate();
    expect(await shop.ended).toBe(0);
    shop = await open();
    for (const id of ['old_1', 'new_1']) expect(await send(id)).toBe('duplicate');
    expect(shop.output()).not.toContain('Delivered');
  });
});

import pg from 'pg';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withPostgres } from '../../../support/postgres.js';
import { startExample } from '../../../support/program.js';
import type { Started } from '../../../support/start.js';

const WEBHOOK_SECRET = 'a secret for tests';
const saved = loadFixture('order:paid');
const order = JSON.parse(new TextDecoder().decode(saved.body));

withPostgres('the recipe of a balance', () => {
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
    startExample('examples/recipes/balance.ts', {
      env: { WEBHOOK_SECRET, DATABASE_URL: server.url, TOP_UP_PRODUCT: order.product_id },
    });
  const send = async (shop: Started, number: number, event: string, status: number) => {
    const changes = { id: `ord_${number}`, email: 'Buyer@example.com', value: '0.10', status };
    const body = new TextEncoder().encode(JSON.stringify({ ...order, ...changes }));
    const id = `${number} ${event} ${status}`;
    const options = { event, id, secret: WEBHOOK_SECRET };
    return (await replay(`${shop.origin}/webhooks`, { ...saved, body }, options)).outcome;
  };

  const balances = async () => {
    const query =
      'SELECT email, sum(value)::text AS balance FROM payment WHERE NOT is_returned GROUP BY email';
    return (await pool.query(query)).rows;
  };

  test('counts each order once and each refund once, even if processes are killed', async () => {
    let shop = await open();
    for (let number = 0; number < 6; number++) {
      const sent = [
        send(shop, number, 'order:updated', 100),
        send(shop, number, 'order:paid', 100),
        send(shop, number, 'order:updated', 0),
      ];
      await Promise.race(sent.map((one) => one.catch(() => {})));
      if (number % 2 === 0) {
        await shop.stop();
        await Promise.allSettled(sent);
        shop = await open();
      }
      await Promise.allSettled(sent);
    }
    // Retries as a sender does, until the lease of the killed process has expired.
    for (let number = 0; number < 6; number++)
      for (const event of ['order:updated', 'order:paid'])
        await vi.waitFor(
          async () => expect(await send(shop, number, event, 100)).toMatch(/handled|duplicate/),
          { timeout: 30_000, interval: 500 },
        );
    for (const status of [56, 56, 51]) await send(shop, 0, 'order:updated', status);
    expect(await balances()).toEqual([{ email: 'buyer@example.com', balance: '0.50' }]);
    // A refund whose payment was missed, alone and then before its payment.
    await send(shop, 6, 'order:updated', 56);
    expect(await balances()).toEqual([{ email: 'buyer@example.com', balance: '0.50' }]);
    await send(shop, 6, 'order:paid', 100);
    expect(await balances()).toEqual([{ email: 'buyer@example.com', balance: '0.50' }]);
    shop.terminate();
    expect(await shop.ended).toBe(0);
  });

  test('credits only the orders of its product', async () => {
    const shop = await open();
    const before = await balances();
    const outcomeOf = async (id: string, changes: object) => {
      const body = new TextEncoder().encode(JSON.stringify({ ...order, id, ...changes }));
      const options = { id, secret: WEBHOOK_SECRET };
      return (await replay(`${shop.origin}/webhooks`, { ...saved, body }, options)).outcome;
    };
    expect(await outcomeOf('shirt', { product_id: 'prd_shirt' })).toBe('handled');
    expect(await outcomeOf('payment', { product_id: null })).toBe('handled');
    // No payment is better than one of 0, which nobody would notice.
    expect(await outcomeOf('worthless', { value: undefined })).toBe('failed');
    expect(await outcomeOf('unreadable', { product_id: 84 })).toBe('failed');
    expect(await balances()).toEqual(before);
    await shop.stop();
  });

  test('does not start without its product', async () => {
    const env = { WEBHOOK_SECRET, DATABASE_URL: server.url };
    await expect(startExample('examples/recipes/balance.ts', { env })).rejects.toThrow(
      'Set TOP_UP_PRODUCT',
    );
  });
});

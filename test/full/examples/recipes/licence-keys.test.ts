import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { loadFixture, replay } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LIBSQL } from '../../../stores/sqlite/drivers.js';
import { openStore, type RemoteStore } from '../../../stores/sqlite/remote.js';
import { startExample } from '../../../support/program.js';
import type { Started } from '../../../support/start.js';

const WEBHOOK_SECRET = 'a secret for tests';
const saved = loadFixture('order:paid');
const order = JSON.parse(new TextDecoder().decode(saved.body));

/** The mails of a mailer, by their idempotency keys. */
const mails = new Map<string, { to: string; text: string }>();
const mailer = createServer(async (request, response) => {
  const mail = (await json(request)) as { to: string; text: string };
  const key = `${request.headers['idempotency-key']}`;
  if (!mails.has(key)) mails.set(key, mail);
  response.end('{}');
});

describe('the licence-key recipe', () => {
  let folder: string;
  let database: RemoteStore;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'licence-'));
    await new Promise<void>((resolve) => mailer.listen(0, '127.0.0.1', resolve));
    database = await openStore([process.execPath], LIBSQL, join(folder, 'shop.db'));
  });
  afterAll(async () => {
    mailer.close();
    await database.stop();
    rmSync(folder, { recursive: true });
  });

  const open = () =>
    startExample('examples/recipes/licence-keys.ts', {
      env: {
        WEBHOOK_SECRET,
        DATABASE_FILE: join(folder, 'shop.db'),
        MAILER_URL: `http://127.0.0.1:${(mailer.address() as AddressInfo).port}`,
      },
    });
  const send = async (shop: Started, number: number, event: string, copy = 0) => {
    const body = new TextEncoder().encode(
      JSON.stringify({ ...order, id: `ord_${number}`, quantity: 2 }),
    );
    const options = { event, id: `${number} ${event} ${copy}`, secret: WEBHOOK_SECRET };
    return (await replay(`${shop.origin}/webhooks`, { ...saved, body }, options)).outcome;
  };
  const count = async (sql: string) => Number((await database.sql(sql))[0]?.n);

  test('sells each code once and each order once, under both events, even if processes are killed', async () => {
    let shop = await open();
    const codes = Array.from({ length: 20 }, (_, n) => `('CODE-${n}', '${order.product_id}')`);
    await database.sql(`INSERT INTO licence (code, product) VALUES ${codes.join(', ')}`);
    for (let number = 0; number < 5; number++) {
      const sent = ['order:updated', 'order:paid'].flatMap((event) =>
        [0, 1].map((copy) => send(shop, number, event, copy)),
      );
      await Promise.race(sent.map((one) => one.catch(() => {})));
      await shop.stop();
      await Promise.allSettled(sent);
      shop = await open();
    }
    // Retries as a sender does, until the lease of the killed process has expired.
    for (let number = 0; number < 5; number++)
      for (const event of ['order:updated', 'order:paid'])
        await vi.waitFor(
          async () => expect(await send(shop, number, event)).toMatch(/handled|duplicate/),
          { timeout: 30_000, interval: 500 },
        );
    expect(await count('SELECT count(*) AS n FROM licence WHERE order_id IS NOT NULL')).toBe(10);
    expect(
      await count(
        'SELECT count(*) AS n FROM (SELECT 1 FROM licence WHERE order_id IS NOT NULL GROUP BY order_id HAVING count(*) = 2)',
      ),
    ).toBe(5);
    const sold = [...mails.values()].flatMap(({ text }) => text.split('\n'));
    expect([mails.size, new Set(sold).size, sold.length]).toEqual([5, 10, 10]);
    shop.terminate();
    expect(await shop.ended).toBe(0);
  });

  test('takes no code if too few are left, and serves the order when there is stock', async () => {
    const shop = await open();
    await database.sql('DELETE FROM licence WHERE order_id IS NULL');
    await database.sql(
      `INSERT INTO licence (code, product) VALUES ('LAST', '${order.product_id}')`,
    );
    expect(await send(shop, 9, 'order:paid')).toBe('failed');
    expect(await count("SELECT count(*) AS n FROM licence WHERE order_id = 'ord_9'")).toBe(0);
    await database.sql(`INSERT INTO licence (code, product) VALUES ('NEW', '${order.product_id}')`);
    expect(await send(shop, 9, 'order:paid')).toBe('handled');
    expect(await count("SELECT count(*) AS n FROM licence WHERE order_id = 'ord_9'")).toBe(2);
    await shop.stop();
  });

  test('takes no code for an order whose quantity is unreadable', async () => {
    const shop = await open();
    await database.sql(
      `INSERT INTO licence (code, product) VALUES ('KEPT', '${order.product_id}')`,
    );
    const odd = await replay(`${shop.origin}/webhooks`, 'order:paid/missing-fields', {
      secret: WEBHOOK_SECRET,
    });
    expect(odd).toMatchObject({ outcome: 'failed' });
    expect(await count("SELECT count(*) AS n FROM licence WHERE order_id = 'ord_missing'")).toBe(0);
    await shop.stop();
  });

  test('takes no code for other products, whose orders are done', async () => {
    const shop = await open();
    const sold = 'SELECT count(*) AS n FROM licence WHERE order_id IS NOT NULL';
    const before = await count(sold);
    for (const product_id of ['prd_shirt', null]) {
      const id = `ord_of_${product_id}`;
      const body = new TextEncoder().encode(JSON.stringify({ ...order, id, product_id }));
      const options = { id, secret: WEBHOOK_SECRET };
      const { outcome } = await replay(`${shop.origin}/webhooks`, { ...saved, body }, options);
      expect(outcome).toBe('handled');
    }
    expect(await count(sold)).toBe(before);
    await shop.stop();
  });
});

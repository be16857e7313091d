import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { reconcile, recover } from 'storefront-webhooks/recovery';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { sqliteLedger, sqliteStore } from 'storefront-webhooks/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { seeded } from '../../src/sandbox/random.js';

const ORDERS = 24;
const HANDLER_MS = 60;
const DAY = 24 * 60 * 60_000;

/** A shop in a process of its own, which can be killed at any moment. */
async function startShop(env: Record<string, string>): Promise<ChildProcess> {
  const shop = spawn(process.execPath, ['--import', 'tsx', 'test/recovery/shop-server.ts'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface(shop.stdout)) if (line === 'listening') break;
  shop.stdout.resume();
  return shop;
}

async function findPort(): Promise<number> {
  const finder = createServer().listen(0, '127.0.0.1');
  await once(finder, 'listening');
  const { port } = finder.address() as AddressInfo;
  finder.close();
  await once(finder, 'close');
  return port;
}

test.each([1, 2])(
  'a shop killed while it delivers has in the end delivered each order once (seed %i)',
  async (seed) => {
    const random = seeded(seed);
    const folder = mkdtempSync(join(tmpdir(), 'killed-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const sandbox = createSandbox({ clock: 'manual' });
    onTestFinished(() => sandbox.close());
    const account = sandbox.account('sk_test_killed');
    const client = createClient({
      baseUrl: 'http://localhost',
      auth: { accessToken: account.key },
      fetch: sandbox.fetch,
    });
    const port = await findPort();
    const url = `http://127.0.0.1:${port}/webhooks`;
    await client.webhookEndpoints.create({ url, events: ['order:paid'] });
    const product = await client.products.create({
      title: 'Licence',
      description: 'A key.',
      product_type: 'service',
      price: '9.90',
      currency: 'EUR',
      gateways: ['paypal'],
    });
    const file = join(folder, 'shop.db');
    const secret = account.settings.webhook_secret;
    const env = {
      PORT: String(port),
      SHOP_DATABASE: file,
      SHOP_SECRET: secret,
      SHOP_MS: String(HANDLER_MS),
    };

    let shop = await startShop(env);
    onTestFinished(() => void shop.kill('SIGKILL'));
    let kills = 0;
    for (let sold = 0; sold < ORDERS; sold++) {
      const { id } = await account.buy({ product_id: product.id, gateway: 'paypal' });
      const paying = account.pay(id);
      if (random() < 0.25) {
        // Before it has come, in its handler, or once it is done.
        await sleep(random() * 2 * HANDLER_MS);
        shop.kill('SIGKILL');
        await once(shop, 'exit');
        kills += 1;
        await paying;
        await account.idle();
        shop = await startShop(env);
      } else {
        await paying;
        await account.idle();
      }
    }
    shop.kill('SIGKILL');
    expect(kills).toBeGreaterThan(2);

    const database = new Database(file);
    onTestFinished(() => void database.close());
    const ledger = sqliteLedger();
    const receiver = createReceiver({ secret, store: sqliteStore(database) }).on(
      'order:paid',
      (event) =>
        ledger.transaction(database, event, (tx) => {
          tx.prepare('INSERT INTO delivered VALUES (?)').run(event.payload.id);
        }),
      { name: 'deliver' },
    );
    const delivered = () =>
      database
        .prepare('SELECT order_id FROM delivered')
        .all()
        .map((row) => (row as { order_id: string }).order_id);
    const now = new Date(account.clock.now() + DAY);
    const shared = { receiver, client, url, now, perSecond: Number.POSITIVE_INFINITY };
    // What was interrupted is its process's until the lease lapses.
    const recovery = await recover({ ...shared, apply: true });
    expect(recovery.complete).toBe(true);
    expect(recovery.deliveries.length).toBeGreaterThan(0);
    expect(new Set(delivered()).size).toBe(ORDERS);
    expect(delivered()).toHaveLength(ORDERS);
    const { findings } = await reconcile({ ...shared, delivered });
    expect(findings).toEqual([]);
  },
  120_000,
);

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { createClient } from 'storefront-webhooks/api';
import { reconcile, recover } from 'storefront-webhooks/recovery';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../../src/sandbox/random.js';
import { openMortalShop } from '../../recovery/mortal-shop.js';
import { startPostgres, withPostgres } from '../../support/postgres.js';
import { startRedis, withRedis } from '../../support/redis.js';

const ORDERS = 20;
const HANDLER_MS = 60;
const DAY = 24 * 60 * 60_000;

// The folder in which the imports resolve.
const folder = mkdtempSync(join('node_modules', '.killed-'));
const server = join(folder, 'shop-server.mjs');
// Bundle the shop's server once, because the tests start it often.
beforeAll(() =>
  build({
    entryPoints: ['test/recovery/shop-server.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@noble/hashes', 'ioredis', 'libsql', 'pg', 'raw-body', 'zod'],
    outfile: server,
  }),
);
afterAll(() => rmSync(folder, { recursive: true }));

/** A shop in its own process, which can be killed at any moment. */
async function startShop(env: Record<string, string>): Promise<ChildProcess> {
  const shop = spawn(process.execPath, [server], {
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

type Ends = (end: () => Promise<void> | void) => void;

/** Sells, kills the shop now and then during deliveries, and recovers. */
async function sellAndKill(place: string, seed: number, onTestFinished: Ends) {
  const random = seeded(seed);
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
  const secret = account.settings.webhook_secret;
  const env = {
    PORT: String(port),
    SHOP_PLACE: place,
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
      // Wait for a random time, so that the kill comes before the delivery, in its handler, or after it.
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

  const { receiver, delivered, close } = await openMortalShop(place, secret, 0);
  onTestFinished(close);
  const now = new Date(account.clock.now() + DAY);
  const shared = { receiver, client, url, now, perSecond: Number.POSITIVE_INFINITY };
  // Interrupted deliveries belong to the killed process until their leases expire.
  const recovery = await recover({ ...shared, apply: true });
  expect(recovery.complete).toBe(true);
  expect(recovery.deliveries.length).toBeGreaterThan(0);
  const { findings } = await reconcile({ ...shared, delivered });
  return { delivered: await delivered(), findings, kills };
}

async function expectEachOnce(place: string, seed: number, onTestFinished: Ends): Promise<void> {
  const { delivered, findings } = await sellAndKill(place, seed, onTestFinished);
  expect(new Set(delivered).size).toBe(ORDERS);
  expect(delivered).toHaveLength(ORDERS);
  expect(findings).toEqual([]);
}

describe('a shop killed while it delivers', { timeout: 120_000, concurrent: true }, () => {
  test('has delivered each order once after its recovery, on SQLite', async ({
    onTestFinished,
  }) => {
    await expectEachOnce(join(folder, 'shop.db'), 1, onTestFinished);
  });

  withPostgres('on PostgreSQL', () => {
    test.for([2, 3])(
      'has delivered each order once after its recovery (seed %i)',
      async (seed, { onTestFinished }) => {
        const server = await startPostgres();
        onTestFinished(() => server.remove());
        await expectEachOnce(server.url, seed, onTestFinished);
      },
    );
  });

  withRedis('on Redis', () => {
    test.for([4, 5])(
      'has delivered each order after its recovery, and interrupted ones at most twice (seed %i)',
      async (seed, { onTestFinished }) => {
        const server = await startRedis();
        onTestFinished(() => server.remove());
        const { delivered, findings, kills } = await sellAndKill(server.url, seed, onTestFinished);
        expect(new Set(delivered).size).toBe(ORDERS);
        expect(delivered.length).toBeLessThanOrEqual(ORDERS + kills);
        expect(findings).toHaveLength(delivered.length - ORDERS);
      },
    );
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { toNodeHandler } from 'storefront-webhooks/node';
import { reconcile, recover } from 'storefront-webhooks/recovery';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterEach, describe, expect, test } from 'vitest';
import { durableStore } from '../support/durable.js';

const HOUR = 60 * 60_000;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A shop with a sandbox, whose web server can be stopped and started. */
async function openShop() {
  const sandbox = createSandbox({ clock: 'manual' });
  ends.push(() => sandbox.close());
  const account = sandbox.account('sk_test_recovery');
  const client = createClient({
    baseUrl: 'http://localhost',
    auth: { accessToken: account.key },
    fetch: sandbox.fetch,
  });
  const delivered: string[] = [];
  const receiver = createReceiver({
    secret: account.settings.webhook_secret,
    store: durableStore(),
    hooks: { onRejected() {}, onError() {} },
  }).on('order:paid', ({ payload: { id } }) => void delivered.push(id), {
    name: 'deliver',
    oncePer: ({ id }) => id,
  });
  // The system chooses a port that is free while the shop is down.
  const finder = createServer();
  const { port } = await listen(finder, 0);
  await new Promise((resolve) => finder.close(resolve));
  const url = `http://localhost:${port}/webhooks`;
  await client.webhookEndpoints.create({ url, events: ['order:paid'] });
  const product = await client.products.create({
    title: 'Key',
    description: '',
    product_type: 'service',
    price: 9.99,
    currency: 'USD',
    gateways: ['paypal'],
  });
  const sell = async () => {
    const order = await account.buy({ product_id: product.id, email: 'ada@example.com' });
    await account.pay(order.id);
    await account.idle();
    return order.id;
  };
  let server: Server | undefined;
  /** Sets the server at the address of the webhooks; without one, it is down. */
  const answer = async (as: 'receiver' | 'maintenance' | 'down') => {
    const closed = server && once(server, 'close');
    server?.close().closeAllConnections();
    await closed;
    server = undefined;
    if (as === 'down') return;
    server = createServer(
      as === 'receiver'
        ? toNodeHandler(receiver)
        : (_, response) => response.end('<h1>We will be back soon.</h1>'),
    );
    await listen(server, port);
  };
  ends.push(() => answer('down'));
  return { account, client, receiver, delivered, url, sell, answer };
}

async function listen(server: Server, port: number) {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

describe('a shop that was down', () => {
  test('has delivered each order once after its recovery, and reconcile confirms it', async () => {
    const shop = await openShop();
    const { account, client, receiver, delivered, url, sell, answer } = shop;
    const paid: string[] = [];
    const sellMany = async (count: number) => {
      for (let sold = 0; sold < count; sold++) paid.push(await sell());
    };

    await answer('receiver');
    await sellMany(2);
    await answer('maintenance');
    await sellMany(2);
    await answer('down');
    // Enough failures for the provider to disable the endpoint.
    await sellMany(20);
    await account.clock.advance(72 * HOUR);
    await account.idle();
    // The log has no entries for these.
    await sellMany(3);
    await answer('receiver');
    expect(delivered).toHaveLength(2);

    const now = new Date(account.clock.now());
    const perSecond = Number.POSITIVE_INFINITY;
    const options = { receiver, client, url, now: new Date(now.getTime() + HOUR), perSecond };
    const before = await reconcile({ ...options, delivered: () => delivered });
    expect(before.findings.map(({ kind }) => kind)).toEqual(Array(25).fill('not_delivered'));

    const listed = await recover(options);
    expect(listed).toMatchObject({ applied: false, endpoint: 'disabled', complete: false });
    const recovery = await recover({ ...options, apply: true, recreateEndpoint: true });
    expect(recovery).toMatchObject({ endpoint: 'recreated', complete: true });
    const reasons = recovery.deliveries.map(({ reason }) => reason).sort();
    expect(reasons.filter((reason) => reason === 'foreign')).toHaveLength(2);
    expect(reasons.filter((reason) => reason === 'unanswered')).toHaveLength(20);
    expect(reasons.filter((reason) => reason === 'unlogged')).toHaveLength(3);
    expect([...delivered].sort()).toEqual([...paid].sort());

    await sellMany(1);
    expect([...delivered].sort()).toEqual([...paid].sort());
    const after = await reconcile({ ...options, delivered: () => delivered });
    expect(after).toMatchObject({ findings: [], paid: 28, delivered: 28 });
    expect(await recover({ ...options, apply: true })).toMatchObject({ complete: true });
    expect(delivered).toHaveLength(28);
  });

  test('answers a late retry as a duplicate after its recovery', async () => {
    const { account, client, receiver, delivered, url, sell, answer } = await openShop();
    await answer('down');
    await sell();
    await answer('receiver');
    const perSecond = Number.POSITIVE_INFINITY;
    // Recovery assumes that no retry comes after a day. One comes.
    const now = new Date(account.clock.now() + 24 * HOUR);
    const { deliveries } = await recover({ receiver, client, url, now, perSecond, apply: true });
    expect(deliveries).toMatchObject([{ reason: 'unanswered', outcome: 'handled' }]);
    await account.clock.advance(HOUR);
    await account.idle();
    const [log] = (await client.webhookLogs.list()).items;
    expect([log?.response_code, JSON.parse(log?.response ?? '{}').outcome]).toEqual([
      200,
      'duplicate',
    ]);
    expect(delivered).toHaveLength(1);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { onTestFinished } from 'vitest';
import { serve } from '../command.js';

const RECEIVER = 'test/cli/recover/receiver.ts';
const MINUTE = 60_000;

/** At the usual pace, the commands of the tests would mostly wait. */
export const QUICKLY = ['--per-second', '1000'];

/** Serves a storefront, and a shop behind a gateway that answers for it, so that no delivery arrives. */
export async function openOutage({ status = 503, answer = 'Bad gateway', drop = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'recover-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'shop.db');
  const gateway = await serve(
    createServer((request, response) =>
      request.resume().on('end', () => {
        if (drop) response.destroy();
        else response.writeHead(status).end(answer);
      }),
    ),
  );
  const sandbox = createSandbox({ clock: 'manual' });
  onTestFinished(() => sandbox.close());
  const account = sandbox.account('sk_test_recover');
  const { url: api } = await sandbox.listen();
  const client = createClient({ baseUrl: api, auth: { accessToken: account.key } });
  const { url } = gateway;
  await client.webhookEndpoints.create({ url, events: ['order:paid'] });
  const product = await client.products.create({
    title: 'Pocket Tuner',
    description: 'A tuner for your pocket.',
    product_type: 'service',
    price: '9.90',
    currency: 'EUR',
    gateways: ['paypal'],
  });
  const env = {
    SHOP_DATABASE: file,
    SHOP_SECRET: account.settings.webhook_secret,
    ACCESS_TOKEN: account.key,
    NO_COLOR: '1',
  };
  return {
    client,
    folder,
    api,
    url,
    env,
    /** Lets the shop answer the deliveries. */
    answerWith(listener: RequestListener) {
      gateway.server.removeAllListeners('request').on('request', listener);
    },
    args: ['recover', '--receiver', RECEIVER, '--url', url, '--api', api, ...QUICKLY],
    /** Pays a number of orders, a minute apart, and waits until the provider stops retrying. */
    async sell(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let sold = 0; sold < count; sold++) {
        const { id } = await account.buy({ product_id: product.id, gateway: 'paypal' });
        await account.pay(id);
        await account.clock.advance(MINUTE);
        ids.push(id);
      }
      await account.clock.advance(60 * MINUTE);
      return ids;
    },
    /** The orders in the shop's own table. */
    delivered(): string[] {
      const database = new Database(file);
      const rows = database.prepare('SELECT order_id FROM delivered ORDER BY rowid').all();
      database.close();
      return rows.map((row) => (row as { order_id: string }).order_id);
    },
  };
}

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createReceiver, type IdempotencyStore, type Receiver } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { toNodeHandler } from 'storefront-webhooks/node';
import {
  type ReconcileOptions,
  type RecoverOptions,
  type Recovery,
  reconcile,
  recover,
} from 'storefront-webhooks/recovery';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { onTestFinished } from 'vitest';

export const HOUR = 60 * 60_000;
export const DAY = 24 * HOUR;

/** A seller's shop: a receiver on a store, and its deliveries. */
export interface SellersShop {
  readonly receiver: Receiver;
  readonly delivered: string[];
}

/** A receiver that delivers once per order, by default on its own SQLite store. */
export function openShop(
  secret: string,
  {
    scope = '',
    store = sqlite(),
    isPlain = false,
  }: { scope?: string; store?: IdempotencyStore; isPlain?: boolean } = {},
): SellersShop {
  const delivered: string[] = [];
  const hooks = { onRejected() {}, onError() {} };
  const receiver = createReceiver({ secret, store, scope, hooks }).on(
    'order:paid',
    ({ payload: { id } }) => void delivered.push(id),
    isPlain ? { name: 'deliver' } : { name: 'deliver', oncePer: ({ id }) => id },
  );
  return { receiver, delivered };
}

/** A store in its own file. */
export function sqlite(file = newFile()): IdempotencyStore {
  const database = new Database(file);
  onTestFinished(() => void database.close());
  return sqliteStore(database);
}

export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'seller-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'shop.db');
}

/** The handler of requests at an address; without one, the server is down. */
export type Answering = SellersShop | RequestListener | 'down';

/** The code that answered at an address before: it delivers, and answers 200 without a receipt. */
export function oldCode(): { answer: RequestListener; delivered: string[] } {
  const delivered: string[] = [];
  const answer: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part) => parts.push(part))
      .on('end', () => {
        delivered.push(JSON.parse(String(Buffer.concat(parts))).id);
        response.end(`{"ok":true,"number":${delivered.length}}`);
      });
  };
  return { answer, delivered };
}

/** A seller with a real sandbox and a manual clock, and a web server behind a real socket. */
export async function openSeller() {
  const sandbox = createSandbox({ clock: 'manual', unknowns: { retries: 'steady' } });
  const account = sandbox.account('sk_test_seller');
  const routes = new Map<string, Answering>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const answering = routes.get(pathname) ?? 'down';
    if (answering === 'down') request.socket.destroy();
    else if (typeof answering === 'function') answering(request, response);
    else toNodeHandler(answering.receiver)(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close().closeAllConnections();
    await sandbox.close();
  });
  const { port } = server.address() as AddressInfo;
  const host = `http://localhost:${port}`;
  const clientOf = (key: string) =>
    createClient({
      baseUrl: 'http://localhost',
      auth: { accessToken: key },
      fetch: sandbox.fetch,
    });
  const client = clientOf(account.key);
  const { id: product_id } = await client.products.create({
    title: 'Key',
    description: '',
    product_type: 'service',
    price: 9.99,
    currency: 'USD',
    gateways: ['paypal'],
  });
  const common = () => ({
    client,
    url: `${host}/webhooks`,
    now: new Date(account.clock.now() + HOUR),
    perSecond: Number.POSITIVE_INFINITY,
  });
  return {
    sandbox,
    account,
    client,
    clientOf,
    host,
    url: `${host}/webhooks`,
    secret: account.settings.webhook_secret,
    /** Sets the handler of requests at a path. */
    answer: (answering: Answering, path = '/webhooks') => void routes.set(path, answering),
    endpoint: (
      path = '/webhooks',
      events: readonly ('order:created' | 'order:paid' | 'order:updated')[] = ['order:paid'],
    ) => client.webhookEndpoints.create({ url: host + path, events: [...events] }),
    /** Sells orders, a second apart, and sends the due webhooks. */
    async sell(count = 1): Promise<string[]> {
      const ids: string[] = [];
      for (let sold = 0; sold < count; sold++) {
        const order = await account.buy({ product_id, email: 'ada@example.com' });
        await account.pay(order.id);
        ids.push(order.id);
        // No two orders have the same time, so that their order is known.
        await account.clock.advance(1_000);
        await account.idle();
      }
      return ids;
    },
    order: async () => (await account.buy({ product_id, email: 'ada@example.com' })).id,
    async pass(ms: number) {
      await account.clock.advance(ms);
      await account.idle();
    },
    recover: ({ receiver }: Pick<SellersShop, 'receiver'>, options: Partial<RecoverOptions> = {}) =>
      recover({ receiver, apply: true, ...common(), ...options }),
    reconcile: (
      { receiver }: Pick<SellersShop, 'receiver'>,
      options: Partial<ReconcileOptions> = {},
    ) => reconcile({ receiver, ...common(), ...options }),
  };
}

/** The results of missed deliveries: `reason outcome`, oldest first. */
export const outcomesOf = ({ deliveries }: Recovery) =>
  deliveries.map(({ reason, outcome }) => `${reason} ${outcome}`);

import { setTimeout } from 'node:timers/promises';
import Database from 'libsql';
import type { ReceiverOptions } from 'storefront-webhooks';
import { d1Store } from 'storefront-webhooks/cloudflare';
import { reconcile } from 'storefront-webhooks/recovery';
import { expect, test, vi } from 'vitest';
import { D1OverLibsql } from '../stores/d1/over-libsql.js';
import { SECRET } from '../support/deliver.js';
import {
  answered,
  DAY,
  ENDPOINT,
  type Entry,
  entry,
  NOW,
  openShop,
  paid,
  provider,
  recoverFrom,
} from './provider.js';

/** Takes a different time for each delivery, as a look into a database does. */
const secret = async () => {
  await setTimeout(1 + Math.random() * 4);
  return { secret: SECRET, scope: 'shop' };
};
const queue = { durable: true, enqueue: async () => ({ id: '1' }) } as const;

/** A shop on D1 whose log has 120 handled and 120 missed deliveries. */
async function openShopOnD1(options: Pick<Partial<ReceiverOptions>, 'secret' | 'queue'> = {}) {
  // The age of the answers is that of the provider's clock.
  vi.useFakeTimers({ toFake: ['Date'], now: NOW.getTime() - DAY });
  const d1 = new D1OverLibsql(new Database(':memory:'));
  const queries = vi.spyOn(d1, 'prepare');
  const shop = openShop({ store: d1Store(d1), ...options });
  const logs: Entry[] = [];
  for (let number = 1; number <= 120; number++) logs.unshift(await answered(shop, entry(number)));
  for (let number = 121; number <= 240; number++) logs.unshift(entry(number));
  vi.useRealTimers();
  queries.mockClear();
  return { shop, logs, queries };
}

test('recovery asks D1 about a page of the log at once', async () => {
  const { shop, logs, queries } = await openShopOnD1();
  const { deliveries } = await recoverFrom({ logs }, shop, { apply: false });
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(Array(120).fill('listed'));
  expect(queries.mock.calls.length).toBeLessThan(20);
});

test.each([
  ['the secret function waits', { secret }],
  ['the secret function waits, and the deliveries are queued', { secret, queue }],
])(
  'recovery asks D1 about a page at once, of the log and of the orders, if %s',
  async (_, options) => {
    const { shop, logs, queries } = await openShopOnD1(options);
    const orders = Array.from({ length: 100 }, (_, at) => ({
      ...paid(300 + at),
      id: `ord_${at}_new`,
    }));
    const endpoints = [{ ...ENDPOINT, enabled: false }];
    const found = await recoverFrom({ logs, orders, endpoints }, shop, { apply: false });
    expect(found.deliveries.map(({ reason }) => reason)).toContain('unlogged');
    expect(queries.mock.calls.length).toBeLessThan(40);
  },
);

test('reconcile asks D1 about many orders at once', async () => {
  const { shop, logs, queries } = await openShopOnD1();
  const orders = logs.map(({ payload }) => ({ ...(payload as Entry) }));
  const client = provider({ logs, orders });
  const { findings } = await reconcile({
    ...{ receiver: shop.receiver, client, url: 'https://shop.example/webhooks', now: NOW },
    perSecond: Number.POSITIVE_INFINITY,
  });
  expect(findings).toHaveLength(120);
  expect(queries.mock.calls.length).toBeLessThan(20);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSeller, sell, TUNER } from './seller.js';

const LISTS = ['products', 'categories', 'orders', 'blacklist'];

async function openSeeded(...options: Parameters<typeof openSeller>) {
  const seller = await openSeller(...options);
  await seller.account.seed();
  const read = async (name: string) =>
    (await seller.send('GET', `/api/v2/${name}?per_page=50`)).body;
  return { ...seller, read };
}

test.each(['newer', 'older'] as const)(
  'a seeded shop of the %s variant has products of each type, orders of each status, and a blacklist',
  async (variant) => {
    const { read } = await openSeeded({ variant });
    const products = await read('products');
    const types = variant === 'newer' ? ['dynamic', 'file', 'serials', 'service'] : [1, 2, 3, 4];
    expect([...new Set(products.map(typeOf))].sort()).toEqual(types);
    const stocks = products.map(({ stock }: { stock: unknown }) => stock);
    expect(stocks).toEqual(expect.arrayContaining(['∞', 0, 1]));
    const orders: { status: number }[] = await read('orders');
    const statuses = new Set(orders.map(({ status }) => status));
    expect([...statuses].sort((one, other) => one - other)).toEqual([
      0, 51, 52, 53, 54, 55, 56, 100,
    ]);
    expect(await read('categories')).toHaveLength(3);
    expect(await read('blacklist')).toMatchObject([{ blacklist_type: 1 }]);
  },
);

const typeOf = ({ product_type }: { product_type: unknown }) => product_type;

test('the orders of a seeded shop are from the last seven days, newest first', async () => {
  const { client, account } = await openSeeded({ clock: 'manual' });
  const { items } = await client.orders.list();
  const ages = items.map(({ created_at }) => account.clock.now() - Date.parse(created_at ?? ''));
  expect(ages).toEqual([...ages].sort((one, other) => one - other));
  expect(ages[0]).toBeGreaterThan(0);
  expect(ages.at(-1)).toBeLessThan(7 * 86_400_000);
});

test('the orders of a seeded shop can be confirmed, and its products bought', async () => {
  const { client, account } = await openSeeded();
  const { items } = await client.orders.list();
  const { id: waiting = '' } = items.find(({ status }) => status === 54) ?? {};
  expect(await account.confirm(waiting)).toMatchObject({
    status: 100,
    delivered: expect.stringMatching(/^HREV(-[0-9A-F]{4}){3}$/),
  });
  const { items: products } = await client.products.list();
  const { id = '' } = products.find(({ stock }) => stock === 1) ?? {};
  expect(await account.buy({ product_id: id })).toMatchObject({ status: 0 });
});

test('a seeded shop is the same each time', async () => {
  const [one, other] = [
    await openSeeded({ clock: 'manual' }),
    await openSeeded({ clock: 'manual' }),
  ];
  for (const name of LISTS) {
    const [first, second] = [await one.read(name), await other.read(name)];
    const undated = (records: object[]) =>
      records.map((record) => ({ ...record, created_at: '', updated_at: '' }));
    expect(undated(second)).toEqual(undated(first));
  }
});

test('seeding sends no webhooks', async () => {
  const { client, account, send } = await openSeller();
  const events = ['order:created', 'order:paid', 'order:updated', 'query:created'] as const;
  await client.webhookEndpoints.create({ url: 'http://localhost:9/', events: [...events] });
  await account.seed();
  expect((await send('GET', '/api/v2/webhooks/logs')).body).toEqual([]);
});

describe('an account that is not empty', () => {
  test('is not seeded', async () => {
    const { client, account, send, read } = await openSeeded();
    await expect(account.seed()).rejects.toMatchObject({ name: 'Refusal', code: 'state_invalid' });
    expect(await send('POST', '/sandbox/seed', '')).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('The account has a shop already')] },
    });
    expect(await read('products')).toHaveLength(10);
    account.reset();
    await client.products.create(TUNER);
    expect((await send('POST', '/sandbox/seed', '')).status).toBe(400);
  });

  test('counts as empty if it was reset, or has only settings and webhook endpoints', async () => {
    const { account, send, client } = await openSeeded();
    account.reset();
    account.set({ gateways: ['paypal'] });
    await client.webhookEndpoints.create({ url: 'https://a.example', events: ['order:paid'] });
    expect((await send('POST', '/sandbox/seed', '')).status).toBe(204);
  });

  test('is not seeded again after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const db = join(folder, 'shop.db');
    const first = createSandbox({ db });
    await first.account('sk_test_alpha').seed();
    await first.close();
    const second = createSandbox({ db });
    onTestFinished(() => second.close());
    const { client, account } = await sell(second);
    expect((await client.orders.list()).items).toHaveLength(16);
    await expect(account.seed()).rejects.toMatchObject({ code: 'state_invalid' });
  });
});

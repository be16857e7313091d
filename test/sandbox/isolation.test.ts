import { createSandbox } from 'storefront-webhooks/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { ENDPOINTS } from './conformance/endpoints.js';
import { PAYMENT, sell, TUNER } from './seller.js';

async function openTwo() {
  const sandbox = createSandbox({ clock: 'manual' });
  onTestFinished(() => sandbox.close());
  const one = await sell(sandbox, 'newer', 'sk_test_one');
  const other = await sell(sandbox, 'newer', 'sk_test_other');
  return { sandbox, one, other };
}

test('each key is an account of its own: no account sees or changes the records of another', async () => {
  const { one, other } = await openTwo();
  const { client, account } = one;
  const product = await client.products.create(TUNER);
  const order = await account.buy({ product_id: product.id });
  const payment = await client.payments.create({ ...PAYMENT, white_label: true });
  const ids: Readonly<Record<string, string>> = {
    products: product.id,
    categories: (await client.categories.create({ title: 'All', product_ids: [] })).id,
    orders: order.id,
    blacklist: (await client.blacklist.create({ blacklist_type: 3, blocked_data: 'US' })).id,
    webhookEndpoints: (
      await client.webhookEndpoints.create({ url: 'https://shop.example', events: [] })
    ).id,
    webhookLogs: 'whl_1',
    payments: payment.id,
  };
  for (const [method, path, operation] of ENDPOINTS.filter(([, path]) => path.endsWith(':id'))) {
    const id = ids[operation.split('.')[0] ?? ''] ?? '';
    const form = method === 'PUT' ? 'title=mine&note=mine' : undefined;
    const { status } = await other.send(method, path.replace(':id', id), form);
    expect(status, `${method} ${path}`).toBe(404);
  }
  for (const [method, path] of ENDPOINTS.filter(([, , operation]) => operation.endsWith('.list'))) {
    expect((await other.send(method, path)).body, path).toEqual([]);
  }
  await expect(other.account.pay(order.id)).rejects.toMatchObject({ code: 'not_found' });
  expect(await client.products.get(product.id)).toMatchObject({ title: 'Pocket tuner' });
  expect(await client.orders.get(order.id)).toMatchObject({ status: 0 });
});

test('faults, settings, time and a reset affect one account only', async () => {
  const { one, other } = await openTwo();
  const entry = { blacklist_type: 3, blocked_data: 'US' };
  await one.client.blacklist.create(entry);
  await other.client.blacklist.create(entry);
  one.account.faults.add({ operation: 'orders.list', status: 503 });
  one.account.set({ gateways: [] });
  await one.account.clock.advance(60_000);
  expect((await other.send('GET', '/api/v2/orders')).status).toBe(200);
  expect(other.account.settings.gateways).toContain('bitcoin');
  expect(one.account.clock.now() - other.account.clock.now()).toBe(60_000);
  one.account.reset();
  expect((await one.client.blacklist.list()).items).toEqual([]);
  expect((await other.client.blacklist.list()).items).toHaveLength(1);
});

test('a reset deletes the records, restores the settings, and keeps the time', async () => {
  const { one } = await openTwo();
  const { account, client, send } = one;
  await client.products.create(TUNER);
  await client.payments.create({ ...PAYMENT, white_label: true });
  account.set({ gateways: [], webhook_secret: 'other' });
  account.faults.add({ operation: 'orders.list', status: 503 });
  await account.clock.advance(60_000);
  const now = account.clock.now();
  expect((await send('POST', '/sandbox/reset')).status).toBe(204);
  for (const [method, path] of ENDPOINTS.filter(([, , operation]) => operation.endsWith('.list'))) {
    expect((await send(method, path)).body, path).toEqual([]);
  }
  expect(account.settings).toMatchObject({ webhook_secret: 'whsec_sk_test_one', read_only: false });
  expect(account.settings.gateways).toContain('bitcoin');
  expect(account.faults.list()).toEqual([]);
  expect(account.clock.now()).toBe(now);
});

test('the HTTP API returns and changes the settings', async () => {
  const { one } = await openTwo();
  const { status, body } = await one.send(
    'PUT',
    '/sandbox/settings',
    'gateways[0]=paypal&read_only=true',
  );
  expect(status).toBe(200);
  expect(body).toEqual({
    gateways: ['paypal'],
    webhook_secret: 'whsec_sk_test_one',
    read_only: true,
  });
  expect((await one.send('GET', '/sandbox/settings')).body).toEqual(body);
  const wrong = await one.send('PUT', '/sandbox/settings', 'gateways[0]=cash');
  expect(wrong.body.errors).toEqual([
    expect.stringMatching(/^gateways\[0\] has to be one of paypal/),
  ]);
});

test('a key that does not begin with sk_test_ is rejected', () => {
  const sandbox = createSandbox();
  expect(() => sandbox.account('sk_live_one')).toThrow('begins with sk_test_');
});

import { expect, test } from 'vitest';
import { openSeller, TUNER } from '../seller.js';

/** A paid order with every detail that a customer can give. */
async function openOrder() {
  const seller = await openSeller();
  const product = await seller.client.products.create({ ...TUNER, gateways: ['bitcoin'] });
  const { id } = await seller.account.buy({
    product_id: product.id,
    quantity: 2,
    email: 'ada@example.com',
    ip_address: '198.51.100.4',
    country_code: 'FR',
    user_agent: 'Lynx',
    risk_level: 12,
    referral: 'https://search.example/',
    custom: { name: 'Ada' },
  });
  return { ...seller, product, id };
}

test.each([
  ['id', 'unique identifier', expect.any(String)],
  ['product_id', 'product of the order', expect.stringMatching(/^prd_/)],
  ['product_title', 'string', 'Pocket tuner'],
  ['email', 'customer email address', 'ada@example.com'],
  ['ip_address', 'customer IP address', '198.51.100.4'],
  ['country_code', 'ISO 3166-1 alpha-2', 'FR'],
  ['user_agent', 'string', 'Lynx'],
  ['value', 'order value in currency; amounts are decimal strings', '19.80'],
  ['usd_value', 'order value in USD', '21.78'],
  ['exchange_rate', 'string (decimal)', '1.10'],
  ['currency', 'ISO 4217', 'EUR'],
  ['gateway', 'gateway used, as a display name', 'Bitcoin'],
  ['quantity', 'integer', 2],
  ['risk_level', 'integer', 12],
  ['status', 'integer', 0],
  ['delivered', 'default null', null],
  ['referral', 'HTTP referrer of the product page', 'https://search.example/'],
  [
    'crypto_address',
    'crypto address presented to the customer',
    expect.stringMatching(/^sandbox-bitcoin-/),
  ],
  ['crypto_value', 'satoshis the customer must send', 36300],
  ['crypto_received', 'satoshis received', 0],
  ['crypto_confirmations', 'integer', 0],
  ['crypto_channel', 'string or null', null],
  ['coupon_id', 'string or null', null],
  ['custom', 'object', { name: 'Ada' }],
  ['created_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
  ['updated_at', 'equals created_at if never updated', expect.any(String)],
])('[spec: Order] %s: %s', async (field, _, value) => {
  const { send, id } = await openOrder();
  const { status, body } = await send('GET', `/api/v2/orders/${id}`);
  expect(status).toBe(200);
  expect(body[field]).toEqual(value);
  expect(body.updated_at).toBe(body.created_at);
});

test('[spec: Order] quantity: default 1; referral: default null', async () => {
  const { account, product } = await openOrder();
  const order = await account.buy({ product_id: product.id });
  expect(order).toMatchObject({ quantity: 1, referral: null });
});

test('[spec: Order] crypto_address and crypto_value are null if the gateway is not a cryptocurrency', async () => {
  const { account, client } = await openSeller();
  const product = await client.products.create({ ...TUNER, gateways: ['paypal'] });
  const order = await account.buy({ product_id: product.id });
  expect(order).toMatchObject({ gateway: 'PayPal', crypto_address: null, crypto_value: null });
});

test('[spec: Order] delivered goods', async () => {
  const { account, client, id } = await openOrder();
  await account.pay(id);
  await account.confirm(id);
  expect((await client.orders.get(id)).delivered).toBe('AAA-1\nBBB-2');
});

test('[spec: Orders] GET /api/v2/orders returns an array of Order', async () => {
  const { client, send, id } = await openOrder();
  const { status, body } = await send('GET', '/api/v2/orders');
  expect(status).toBe(200);
  expect(body).toMatchObject([{ id }]);
  expect((await client.orders.list()).items).toEqual(body);
});

test('[spec: Orders] GET /api/v2/orders/:id returns the Order', async () => {
  const { client, send, id } = await openOrder();
  const { body } = await send('GET', `/api/v2/orders/${id}`);
  expect(await client.orders.get(id)).toEqual(body);
});

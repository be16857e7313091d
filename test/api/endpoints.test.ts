import { createClient } from 'storefront-webhooks/api';
import { afterAll, describe, expect, test } from 'vitest';
import { json, startProvider } from './provider.js';

// The tables of the specification (Endpoints) again: the request and the result of each call.

const provider = await startProvider();
afterAll(() => provider.stop());

const TIMES = {
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
};
const CATEGORY = { id: 'cat_1', title: 'Tuners', product_ids: ['prd_1'], ...TIMES };
const ORDER = { id: 'ord_1', status: 100, email: 'buyer@example.com', value: '9.99', ...TIMES };
const ENTRY = { id: 'bl_1', blacklist_type: 1, blocked_data: 'thief@example.com', ...TIMES };
const ENDPOINT = { id: 'whe_1', url: 'https://shop.example/in', events: ['order:paid'], ...TIMES };
const LOG = { id: 'whl_1', event: 'order:paid', payload: { any: ['thing', 1] }, ...TIMES };
const HOSTED = { url: 'https://pay.example/1' };
const WHITE_LABEL = { id: 'ord_2', status: 0, email: 'buyer@example.com', url: 'bitcoin:bc1' };

const PAYMENT = {
  title: 'Tuner',
  email: 'buyer@example.com',
  currency: 'EUR',
  value: 9.99,
  gateway: 'bitcoin',
};
const PAYMENT_FORM = 'title=Tuner&email=buyer@example.com&currency=EUR&value=9.99&gateway=bitcoin';

const newer = () => {
  const auth = { accessToken: 'tok_1' };
  const { products, ...rest } = createClient({ baseUrl: provider.origin, auth });
  const record = { id: 'prd_1', title: 'Tuner', product_type: 'serials', ...TIMES };
  const fields = {
    title: 'Tuner',
    description: 'Pocket',
    product_type: 'serials',
    stock_delimiter: ';',
    info: 'A;B',
    price: '9.90',
    currency: 'EUR',
    gateways: ['paypal', 'bitcoin'],
    custom: [{ type: 'select', name: 'size', required: true }],
  };
  const form =
    'title=Tuner&description=Pocket&product_type=serials&stock_delimiter=;&info=A;B&price=9.90&currency=EUR' +
    '&gateways[0]=paypal&gateways[1]=bitcoin&custom[0][type]=select&custom[0][name]=size&custom[0][required]=true';
  return { ...rest, products, record, form, create: () => products.create(fields) };
};

const older = () => {
  const auth = { email: 'seller@example.com', apiKey: 'key_1' };
  const options = { baseUrl: provider.origin, auth, variant: 'older' } as const;
  const { products, ...rest } = createClient(options);
  const record = { id: 'prd_1', title: 'Tuner', product_type: 2, ...TIMES };
  const fields = {
    title: 'Tuner',
    description: 'Pocket',
    product_type: 2,
    price: 9.9,
    currency: 'EUR',
    gateways: ['Paypal'],
    crypto_confirmations: 2,
    webhook_url: 'https://shop.example/in',
  };
  const form =
    'title=Tuner&description=Pocket&product_type=2&price=9.9&currency=EUR&gateways[0]=Paypal' +
    '&crypto_confirmations=2&webhook_url=https://shop.example/in';
  return { ...rest, products, record, form, create: () => products.create(fields) };
};

type Row = [
  operation: string,
  call: () => Promise<unknown>,
  request: string,
  status: number,
  record?: unknown,
  form?: string,
];

function rowsOf(api: ReturnType<typeof newer> | ReturnType<typeof older>): Row[] {
  const { products, record, form, create } = api;
  const { categories, orders, blacklist, webhookEndpoints, webhookLogs, payments } = api;
  const endpointForm = 'url=https://shop.example/in&events[0]=order:paid&events[1]=order:created';
  const events = ['order:paid', 'order:created'] as const;
  return [
    ['products.list', () => products.list(), 'GET /api/v2/products?page=1', 200, [record]],
    ['products.get', () => products.get('prd_1'), 'GET /api/v2/products/prd_1', 200, record],
    ['products.create', create, 'POST /api/v2/products', 201, record, form],
    [
      'products.update',
      () => products.update('prd_1', { price: '1.50', maximum_quantity: null, unlisted: true }),
      'PUT /api/v2/products/prd_1',
      200,
      record,
      'price=1.50&maximum_quantity=&unlisted=true',
    ],
    ['products.delete', () => products.delete('prd_1'), 'DELETE /api/v2/products/prd_1', 204],
    ['categories.list', () => categories.list(), 'GET /api/v2/categories?page=1', 200, [CATEGORY]],
    [
      'categories.get',
      () => categories.get('cat_1'),
      'GET /api/v2/categories/cat_1',
      200,
      CATEGORY,
    ],
    [
      'categories.create',
      () => categories.create({ title: 'Tuners', product_ids: ['prd_1', 'prd_2'] }),
      'POST /api/v2/categories',
      201,
      CATEGORY,
      'title=Tuners&product_ids[0]=prd_1&product_ids[1]=prd_2',
    ],
    [
      'categories.update',
      () => categories.update('cat_1', { unlisted: false, product_ids: [] }),
      'PUT /api/v2/categories/cat_1',
      200,
      CATEGORY,
      'unlisted=false&product_ids[]=',
    ],
    ['categories.delete', () => categories.delete('cat_1'), 'DELETE /api/v2/categories/cat_1', 204],
    ['orders.list', () => orders.list(), 'GET /api/v2/orders?page=1', 200, [ORDER]],
    ['orders.get', () => orders.get('ord_1'), 'GET /api/v2/orders/ord_1', 200, ORDER],
    ['blacklist.list', () => blacklist.list(), 'GET /api/v2/blacklist?page=1', 200, [ENTRY]],
    ['blacklist.get', () => blacklist.get('bl_1'), 'GET /api/v2/blacklist/bl_1', 200, ENTRY],
    [
      'blacklist.create',
      () => blacklist.create({ blacklist_type: 1, blocked_data: 'thief@example.com', note: 'no' }),
      'POST /api/v2/blacklist',
      201,
      ENTRY,
      'blacklist_type=1&blocked_data=thief@example.com&note=no',
    ],
    [
      'blacklist.update',
      () => blacklist.update('bl_1', { note: '' }),
      'PUT /api/v2/blacklist/bl_1',
      200,
      ENTRY,
      'note=',
    ],
    ['blacklist.delete', () => blacklist.delete('bl_1'), 'DELETE /api/v2/blacklist/bl_1', 204],
    [
      'webhookEndpoints.list',
      () => webhookEndpoints.list({ perPage: 50, page: 3 }),
      'GET /api/v2/webhooks/endpoints?page=3&per_page=50',
      200,
      [ENDPOINT],
    ],
    [
      'webhookEndpoints.get',
      () => webhookEndpoints.get('whe_1'),
      'GET /api/v2/webhooks/endpoints/whe_1',
      200,
      ENDPOINT,
    ],
    [
      'webhookEndpoints.create',
      () => webhookEndpoints.create({ url: 'https://shop.example/in', events }),
      'POST /api/v2/webhooks/endpoints',
      201,
      ENDPOINT,
      endpointForm,
    ],
    [
      'webhookEndpoints.update',
      () => webhookEndpoints.update('whe_1', { url: 'https://shop.example/in', events }),
      'PUT /api/v2/webhooks/endpoints/whe_1',
      200,
      ENDPOINT,
      endpointForm,
    ],
    [
      'webhookEndpoints.delete',
      () => webhookEndpoints.delete('whe_1'),
      'DELETE /api/v2/webhooks/endpoints/whe_1',
      204,
    ],
    ['webhookLogs.list', () => webhookLogs.list(), 'GET /api/v2/webhooks/logs?page=1', 200, [LOG]],
    [
      'webhookLogs.get',
      () => webhookLogs.get('whl_1'),
      'GET /api/v2/webhooks/logs/whl_1',
      200,
      LOG,
    ],
    [
      'payments.create',
      () => payments.create({ ...PAYMENT, return_url: 'https://shop.example/thanks' }),
      'POST /api/v2/pay',
      201,
      HOSTED,
      `${PAYMENT_FORM}&return_url=https://shop.example/thanks`,
    ],
    [
      'payments.create',
      () => payments.create({ ...PAYMENT, white_label: true, ip_address: '192.0.2.1' }),
      'POST /api/v2/pay',
      201,
      WHITE_LABEL,
      `${PAYMENT_FORM}&white_label=true&ip_address=192.0.2.1`,
    ],
    ['payments.delete', () => payments.delete('pay_1'), 'DELETE /api/v2/pay/pay_1', 204],
  ];
}

describe.each([
  { variant: 'newer', api: newer(), authorization: 'Bearer tok_1' },
  // The credentials are `seller@example.com:key_1` in Base64.
  { variant: 'older', api: older(), authorization: 'Basic c2VsbGVyQGV4YW1wbGUuY29tOmtleV8x' },
])('a client of the $variant variant', ({ api, authorization }) => {
  const rows = rowsOf(api);

  test.each(rows)('%s', async (operation, call, request, status, record, form) => {
    provider.answers(json(status, record, { 'X-Total-Pages': '7' }));
    const result = await call();
    const [received, ...others] = provider.received;
    expect(others).toEqual([]);
    expect(`${received?.method} ${received?.url}`).toBe(request);
    expect(decodeURIComponent(received?.body ?? '')).toBe(form ?? '');
    expect(received?.headers).toMatchObject({ accept: 'application/json', authorization });
    expect(received?.headers['user-agent']).toMatch(/^storefront-webhooks\/\d/);
    expect(received?.headers['content-type']).toBe(
      form === undefined ? undefined : 'application/x-www-form-urlencoded',
    );
    const page = Number(/page=(\d+)/.exec(request)?.[1]);
    const isList = operation.endsWith('.list');
    expect(result).toEqual(isList ? { items: record, page, totalPages: 7 } : record);
  });

  test('has these methods and no others', () => {
    const { record: _, form: __, create: ___, ...groups } = api;
    const methods = Object.entries(groups).flatMap(([group, methods]) =>
      Object.keys(methods).map((method) => `${group}.${method}`),
    );
    expect(methods.sort()).toEqual([...new Set(rows.map(([operation]) => operation))].sort());
  });
});

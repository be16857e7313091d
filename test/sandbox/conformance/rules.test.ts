import { expect, test } from 'vitest';
import { openSeller, PAYMENT, PRODUCT_FORM, TUNER } from '../seller.js';
import { ENDPOINTS } from './endpoints.js';

const FORMS: Readonly<Record<string, string>> = {
  '/api/v2/products': PRODUCT_FORM,
  '/api/v2/categories': 'title=Tuners&product_ids[]=',
  '/api/v2/blacklist': 'blacklist_type=3&blocked_data=US',
  '/api/v2/webhooks/endpoints': 'url=https%3A%2F%2Fshop.example%2Fin&events[0]=order%3Apaid',
  '/api/v2/pay':
    'title=Lesson&email=a%40b.example&currency=EUR&value=1&gateway=bitcoin&white_label=true',
};

const RECORDS = ENDPOINTS.filter(([method]) => method === 'POST');

test.each(RECORDS)(
  '[spec: Rules for all endpoints] create returns the created object, status 201: %s %s',
  async (method, path) => {
    const { send } = await openSeller();
    const { status, body } = await send(method, path, FORMS[path]);
    expect({ status, body }).toEqual({
      status: 201,
      body: expect.objectContaining({ id: expect.any(String) }),
    });
  },
);

test.each(ENDPOINTS.filter(([method]) => method === 'PUT'))(
  '[spec: Rules for all endpoints] update returns the updated object (200), and changes only the fields that were sent: %s %s',
  async (method, path) => {
    const { send } = await openSeller();
    const list = path.replace('/:id', '');
    const { body: made } = await send('POST', list, FORMS[list]);
    const { status, body } = await send(method, path.replace(':id', made.id), '');
    expect({ status, body }).toEqual({
      status: 200,
      body: { ...made, updated_at: body.updated_at },
    });
    expect(body.updated_at > made.updated_at).toBe(true);
    expect((await send('GET', path.replace(':id', made.id))).body).toEqual(body);
  },
);

test.each(ENDPOINTS.filter(([method]) => method === 'DELETE'))(
  '[spec: Rules for all endpoints] delete returns 204 with no body: %s %s',
  async (method, path) => {
    const { send } = await openSeller();
    const { body: made } = await send(
      'POST',
      path.replace('/:id', ''),
      FORMS[path.replace('/:id', '')],
    );
    const { status, body } = await send(method, path.replace(':id', made.id));
    expect({ status, body }).toEqual({ status: 204, body: undefined });
  },
);

test.each(ENDPOINTS)(
  '[spec: Authentication] every request carries credentials: %s %s',
  async (method, path) => {
    const { sandbox } = await openSeller();
    const { status } = await sandbox.fetch(`http://localhost${path}`, { method });
    expect(status).toBe(401);
  },
);

test.each(ENDPOINTS.filter(([method]) => method === 'GET'))(
  '[spec: What the service does] responses are JSON: %s %s',
  async (method, path) => {
    const { send } = await openSeller();
    const { headers } = await send(method, path);
    expect(headers.get('content-type')).toBe('application/json');
  },
);

test('[spec: Versioning] the version is part of the path: /api/v2', async () => {
  const { send } = await openSeller();
  expect((await send('GET', '/api/v2/orders')).status).toBe(200);
  for (const path of ['/api/v1/orders', '/api/orders', '/orders']) {
    expect((await send('GET', path)).status).toBe(404);
  }
});

test('[spec: Versioning] two shapes of the product resource: the rest is the same in both', async () => {
  const shapes = await Promise.all(
    (['newer', 'older'] as const).map(async (variant) => {
      const { send, account, client } = await openSeller({ variant });
      const form = PRODUCT_FORM.replace('=serials', variant === 'newer' ? '=serials' : '=2');
      const product = (await send('POST', '/api/v2/products', form)).body;
      await account.buy({ product_id: product.id });
      await client.payments.create({ ...PAYMENT, white_label: true });
      const category = await send('POST', '/api/v2/categories', FORMS['/api/v2/categories']);
      const order = await send('GET', '/api/v2/orders');
      return [Object.keys(category.body), Object.keys(order.body[0])];
    }),
  );
  expect(shapes[0]).toEqual(shapes[1]);
});

test('[spec: Resources and their fields] null means the value is absent: no field is left out', async () => {
  const { send } = await openSeller();
  const { body } = await send('POST', '/api/v2/products', PRODUCT_FORM);
  expect(body).toMatchObject({ image: null, file: null, stock_amount: null, seller_note: null });
  const entry = await send('POST', '/api/v2/blacklist', FORMS['/api/v2/blacklist']);
  expect(entry.body).toHaveProperty('note', null);
});

test('[spec: Resources and their fields] monetary amounts and exchange rates are serialised as decimal strings', async () => {
  const { account, client, send } = await openSeller();
  const { id } = await client.products.create({ ...TUNER, price: 0.1 });
  await account.buy({ product_id: id, quantity: 3 });
  const [product] = (await send('GET', '/api/v2/products')).body;
  const [order] = (await send('GET', '/api/v2/orders')).body;
  expect(product.price).toBe('0.10');
  expect(order).toMatchObject({ value: '0.30', usd_value: '0.33', exchange_rate: '1.10' });
});

import { describe, expect, test } from 'vitest';
import { OLDER_PRODUCT_FORM, openSeller, PRODUCT_FORM, TUNER } from '../seller.js';

describe('the endpoints of products', () => {
  test('[spec: Products] GET /api/v2/products returns an array of Product', async () => {
    const { client, send } = await openSeller();
    const made = await client.products.create(TUNER);
    expect((await client.products.list()).items).toEqual([made]);
    const { status, body } = await send('GET', '/api/v2/products?page=1&per_page=10');
    expect({ status, body }).toEqual({ status: 200, body: [made] });
  });

  test('[spec: Products] GET /api/v2/products/:id returns the Product', async () => {
    const { client, send } = await openSeller();
    const made = await client.products.create(TUNER);
    expect(await client.products.get(made.id)).toEqual(made);
    expect((await send('GET', `/api/v2/products/${made.id}`)).body).toEqual(made);
  });

  test('[spec: Products] POST /api/v2/products returns the Product with status 201', async () => {
    const { client, send } = await openSeller();
    const { status, body } = await send('POST', '/api/v2/products', PRODUCT_FORM);
    expect(status).toBe(201);
    expect(await client.products.get(body.id)).toEqual(body);
    expect(body).toMatchObject({ stock: 2, gateways: ['bitcoin', 'paypal'] });
  });

  test('[spec: Products] PUT /api/v2/products/:id returns the updated Product with status 200', async () => {
    const { client, send } = await openSeller();
    const made = await client.products.create(TUNER);
    const changes = { title: 'Tuner', maximum_quantity: 5, unlisted: true };
    const updated = await client.products.update(made.id, changes);
    expect(updated).toEqual({
      ...made,
      ...changes,
      updated_at: expect.not.stringMatching(made.updated_at ?? ''),
    });
    const { status, body } = await send('PUT', `/api/v2/products/${made.id}`, 'maximum_quantity=');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { title: 'Tuner', maximum_quantity: null },
    });
  });

  test('[spec: Products] DELETE /api/v2/products/:id has no body', async () => {
    const { client, send } = await openSeller();
    const { id } = await client.products.create(TUNER);
    expect(await send('DELETE', `/api/v2/products/${id}`)).toMatchObject({
      status: 204,
      body: undefined,
    });
    await expect(client.products.get(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[spec: Rules for all endpoints] deleting a product is permanent', async () => {
    const { client } = await openSeller();
    const { id } = await client.products.create(TUNER);
    await client.products.delete(id);
    await expect(client.products.update(id, { title: 'Again' })).rejects.toMatchObject({
      status: 404,
    });
    await expect(client.products.delete(id)).rejects.toMatchObject({ status: 404 });
    expect((await client.products.list()).items).toEqual([]);
  });
});

describe('the fields of a product', () => {
  test.each(['title', 'description', 'price', 'product_type', 'gateways', 'currency'])(
    '[spec: Products] older variant, create: %s is required',
    async (name) => {
      const { send } = await openSeller({ variant: 'older' });
      const form = OLDER_PRODUCT_FORM.split('&')
        .filter((field) => !field.startsWith(name))
        .join('&');
      const { status, body } = await send('POST', '/api/v2/products', form);
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: [`${name} is required`],
      });
    },
  );

  test.each([
    ['private', 'true', true],
    ['unlisted', 'true', true],
    ['vpn_block', 'true', true],
    ['maximum_quantity', '9', 9],
    ['minimum_quantity', '2', 2],
    ['stock_delimiter', '-', '-'],
    ['stock_amount', '4', 4],
    ['crypto_confirmations', '3', 3],
    ['max_risk_level', '50', 50],
    ['dynamic_url', 'https%3A%2F%2Fshop.example%2Fgoods', 'https://shop.example/goods'],
    ['info', 'A', 'A'],
    ['webhook_url', 'https%3A%2F%2Fshop.example%2Fin', 'https://shop.example/in'],
  ])(
    '[spec: Products] older variant, create and update: %s is optional',
    async (name, text, value) => {
      const { send } = await openSeller({ variant: 'older' });
      const form = OLDER_PRODUCT_FORM.split('&')
        .filter((field) => !field.startsWith(`${name}=`))
        .join('&');
      const bare = await send('POST', '/api/v2/products', form);
      const full = await send('POST', '/api/v2/products', `${form}&${name}=${text}`);
      expect([bare.status, full.status]).toEqual([201, 201]);
      expect(full.body[name]).toBe(value);
      const updated = await send('PUT', `/api/v2/products/${bare.body.id}`, `${name}=${text}`);
      expect(updated.body[name]).toBe(value);
    },
  );

  test('[spec: Products] older variant, create and update: custom is optional', async () => {
    const { send } = await openSeller({ variant: 'older' });
    const custom = 'custom[0][any]=thing';
    const made = await send('POST', '/api/v2/products', `${OLDER_PRODUCT_FORM}&${custom}`);
    expect(made).toMatchObject({ status: 201, body: { custom: {} } });
    expect((await send('PUT', `/api/v2/products/${made.body.id}`, custom)).status).toBe(200);
  });

  test.each(OLDER_PRODUCT_FORM.replace(/\[\d\]/g, '[0]').split('&'))(
    '[spec: Products] older variant, update: all are optional, so %s alone is enough',
    async (field) => {
      const { send } = await openSeller({ variant: 'older' });
      const { body: made } = await send('POST', '/api/v2/products', OLDER_PRODUCT_FORM);
      const { status, body } = await send('PUT', `/api/v2/products/${made.id}`, field);
      const [name = ''] = field.split(/[=[]/);
      expect({ status, body }).toEqual({
        status: 200,
        body: { ...made, [name]: body[name], stock: body.stock, updated_at: body.updated_at },
      });
    },
  );

  test('[spec: Products] newer variant, create example sends these fields', async () => {
    const { send } = await openSeller();
    const { status, body } = await send('POST', '/api/v2/products', PRODUCT_FORM);
    expect(status).toBe(201);
    expect(body).toMatchObject({ title: 'Pocket tuner', product_type: 'serials', price: '9.90' });
  });

  test.each(['file', 'serials', 'dynamic', 'service'])(
    '[spec: Product] product_type of the newer variant may be %s',
    async (product_type) => {
      const { client } = await openSeller();
      expect(await client.products.create({ ...TUNER, product_type })).toMatchObject({
        product_type,
      });
    },
  );

  test.each([
    ...['paypal', 'stripe', 'cashapp', 'bitcoin', 'ethereum', 'litecoin', 'bitcoin_cash'],
    ...['perfect_money', 'skrill', 'dogecoin', 'bnb', 'polygon'],
  ])('[spec: Product] gateways may have %s', async (gateway) => {
    const { client } = await openSeller();
    const product = await client.products.create({ ...TUNER, gateways: [gateway] });
    expect(product.gateways).toEqual([gateway]);
  });

  test.each(['select', 'number', 'text', 'hidden', 'textarea', 'checkbox', 'country_dropdown'])(
    '[spec: Product] a custom checkout field may be of the type %s, with name and required',
    async (type) => {
      const { client } = await openSeller();
      const custom = [{ type, name: 'size', required: true }];
      expect((await client.products.create({ ...TUNER, custom })).custom).toEqual(custom);
    },
  );

  test.each(['name', 'required'])(
    '[spec: Product] a custom checkout field needs %s',
    async (name) => {
      const { send } = await openSeller();
      const fields = ['type', 'name', 'required'].filter((one) => one !== name);
      const values = { type: 'text', name: 'size', required: 'true' };
      const custom = fields.map((one) => `custom[0][${one}]=${Object(values)[one]}`).join('&');
      const { status, body } = await send('POST', '/api/v2/products', `${PRODUCT_FORM}&${custom}`);
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: [`custom[0][${name}] is required`],
      });
    },
  );

  test('[spec: Product] there are no other types, gateways and custom fields', async () => {
    const { send } = await openSeller();
    const wrong = PRODUCT_FORM.replace('=serials', '=gift').replace('=paypal', '=cash');
    const form = `${wrong}&custom[0][type]=slider&custom[0][name]=size&custom[0][required]=true`;
    const { status, body } = await send('POST', '/api/v2/products', form);
    expect(status).toBe(400);
    const named = body.errors.map((error: string) => error.split(' ')[0]);
    expect(named.sort()).toEqual(['custom[0][type]', 'gateways[1]', 'product_type']);
  });

  test('a price below 0 is rejected', async () => {
    const { send } = await openSeller();
    const { status, body } = await send(
      'POST',
      '/api/v2/products',
      PRODUCT_FORM.replace('9.90', '-1'),
    );
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { errors: ['price has to be at least 0'] },
    });
  });
});

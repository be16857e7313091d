import { expect, test } from 'vitest';
import { openSeller } from '../seller.js';

const PATH = '/api/v2/categories';
const FORM = 'title=Tuners&product_ids[0]=prd_1&product_ids[1]=prd_2';

test.each([
  ['id', 'string', expect.any(String)],
  ['title', 'display title', 'Tuners'],
  ['product_ids', 'array of string, ids of products in the category', ['prd_1', 'prd_2']],
  ['unlisted', 'boolean', false],
  ['image', 'null when none', null],
  ['created_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
  ['updated_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
])('[spec: Category] %s: %s', async (field, _, value) => {
  const { send } = await openSeller();
  const { body } = await send('POST', PATH, FORM);
  expect(body[field]).toEqual(value);
});

test('[spec: Category] updated_at equals created_at if never updated', async () => {
  const { client } = await openSeller();
  const made = await client.categories.create({ title: 'Tuners', product_ids: [] });
  expect(made.updated_at).toBe(made.created_at);
  const changed = await client.categories.update(made.id, { title: 'Strings' });
  expect(Date.parse(changed.updated_at ?? '')).toBeGreaterThanOrEqual(
    Date.parse(made.created_at ?? ''),
  );
  expect(changed.updated_at).not.toBe(made.created_at);
  expect(changed.created_at).toBe(made.created_at);
});

test('[spec: Categories] GET /api/v2/categories returns an array of Category', async () => {
  const { client, send } = await openSeller();
  const made = await client.categories.create({ title: 'Tuners', product_ids: ['prd_1'] });
  expect((await client.categories.list()).items).toEqual([made]);
  expect(await send('GET', PATH)).toMatchObject({ status: 200, body: [made] });
});

test('[spec: Categories] GET /api/v2/categories/:id returns the Category', async () => {
  const { client, send } = await openSeller();
  const made = await client.categories.create({ title: 'Tuners', product_ids: ['prd_1'] });
  expect(await client.categories.get(made.id)).toEqual(made);
  expect(await send('GET', `${PATH}/${made.id}`)).toMatchObject({ status: 200, body: made });
});

test('[spec: Categories] POST /api/v2/categories takes title, product_ids and unlisted, and returns the Category', async () => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', PATH, `${FORM}&unlisted=true`);
  expect(status).toBe(201);
  expect(body).toMatchObject({ title: 'Tuners', product_ids: ['prd_1', 'prd_2'], unlisted: true });
});

test('[spec: Categories] title and product_ids are required, unlisted is optional', async () => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', PATH, '');
  expect(status).toBe(400);
  expect(body.errors).toEqual(['title is required', 'product_ids is required']);
});

test.each([
  ['title', 'title=Strings', { title: 'Strings' }],
  ['product_ids', 'product_ids[0]=prd_3', { product_ids: ['prd_3'] }],
  ['product_ids, empty', 'product_ids[]=', { product_ids: [] }],
  ['unlisted', 'unlisted=true', { unlisted: true }],
])(
  '[spec: Categories] PUT /api/v2/categories/:id takes %s alone, and returns the Category',
  async (_, form, changes) => {
    const { send } = await openSeller();
    const { body: made } = await send('POST', PATH, FORM);
    const { status, body } = await send('PUT', `${PATH}/${made.id}`, form);
    expect(status).toBe(200);
    expect(body).toEqual({ ...made, ...changes, updated_at: body.updated_at });
  },
);

test('[spec: Categories] DELETE /api/v2/categories/:id has no body', async () => {
  const { send } = await openSeller();
  const { body: made } = await send('POST', PATH, FORM);
  expect(await send('DELETE', `${PATH}/${made.id}`)).toMatchObject({
    status: 204,
    body: undefined,
  });
});

test('[spec: Rules for all endpoints] deleting a category is permanent', async () => {
  const { client } = await openSeller();
  const { id } = await client.categories.create({ title: 'Tuners', product_ids: [] });
  await client.categories.delete(id);
  await expect(client.categories.get(id)).rejects.toMatchObject({ status: 404 });
  await expect(client.categories.delete(id)).rejects.toMatchObject({ status: 404 });
  expect((await client.categories.list()).items).toEqual([]);
});

test('a product that is deleted is in no category any more', async () => {
  const { client, send } = await openSeller();
  const product = (
    await send(
      'POST',
      '/api/v2/products',
      'title=a&description=b&product_type=service&price=1&currency=EUR&gateways[0]=paypal',
    )
  ).body;
  const { id } = await client.categories.create({
    title: 'All',
    product_ids: [product.id, 'prd_2'],
  });
  await client.products.delete(product.id);
  expect((await client.categories.get(id)).product_ids).toEqual(['prd_2']);
});

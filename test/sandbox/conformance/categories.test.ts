import { expect, test } from 'vitest';
import { openSeller, TUNER } from '../seller.js';

const PATH = '/api/v2/categories';

/** A seller with three products, and the form of a category with the first two. */
async function openShop() {
  const seller = await openSeller();
  const make = async () => (await seller.client.products.create(TUNER)).id;
  const ids = [await make(), await make(), await make()] as const;
  return { ...seller, ids, form: `title=Tuners&product_ids[0]=${ids[0]}&product_ids[1]=${ids[1]}` };
}

test.each([
  ['id', 'string', expect.any(String)],
  ['title', 'display title', 'Tuners'],
  ['product_ids', 'array of string, ids of products in the category', 2],
  ['unlisted', 'boolean', false],
  ['image', 'null when none', null],
  ['created_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
  ['updated_at', 'timestamp', expect.stringMatching(/\+00:00$/)],
])('[spec: Category] %s: %s', async (field, _, value) => {
  const { send, form, ids } = await openShop();
  const { body } = await send('POST', PATH, form);
  expect(body[field]).toEqual(value === 2 ? ids.slice(0, 2) : value);
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
  const { client, send, ids } = await openShop();
  const made = await client.categories.create({ title: 'Tuners', product_ids: [ids[0]] });
  expect((await client.categories.list()).items).toEqual([made]);
  expect(await send('GET', PATH)).toMatchObject({ status: 200, body: [made] });
});

test('[spec: Categories] GET /api/v2/categories/:id returns the Category', async () => {
  const { client, send, ids } = await openShop();
  const made = await client.categories.create({ title: 'Tuners', product_ids: [ids[0]] });
  expect(await client.categories.get(made.id)).toEqual(made);
  expect(await send('GET', `${PATH}/${made.id}`)).toMatchObject({ status: 200, body: made });
});

test('[spec: Categories] POST /api/v2/categories takes title, product_ids and unlisted, and returns the Category', async () => {
  const { send, form, ids } = await openShop();
  const { status, body } = await send('POST', PATH, `${form}&unlisted=true`);
  expect(status).toBe(201);
  const product_ids = ids.slice(0, 2);
  expect(body).toMatchObject({ title: 'Tuners', product_ids, unlisted: true });
});

test('[spec: Categories] title and product_ids are required, unlisted is optional', async () => {
  const { send } = await openSeller();
  const { status, body } = await send('POST', PATH, '');
  expect(status).toBe(400);
  expect(body.errors).toEqual(['title is required', 'product_ids is required']);
});

test.each([
  ['title', 'title=Strings', { title: 'Strings' }],
  ['product_ids', 'product_ids[0]=third', { product_ids: ['third'] }],
  ['product_ids, empty', 'product_ids[]=', { product_ids: [] }],
  ['unlisted', 'unlisted=true', { unlisted: true }],
])(
  '[spec: Categories] PUT /api/v2/categories/:id takes %s alone, and returns the Category',
  async (_, change, changes) => {
    const { send, form, ids } = await openShop();
    const named = (text: string) => text.replace('third', ids[2]);
    const { body: made } = await send('POST', PATH, form);
    const { status, body } = await send('PUT', `${PATH}/${made.id}`, named(change));
    expect(status).toBe(200);
    const becomes = JSON.parse(named(JSON.stringify(changes)));
    expect(body).toEqual({ ...made, ...becomes, updated_at: body.updated_at });
  },
);

test('[spec: Categories] DELETE /api/v2/categories/:id has no body', async () => {
  const { send, form } = await openShop();
  const { body: made } = await send('POST', PATH, form);
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

test('deleting a product removes it from its categories', async () => {
  const { client, ids } = await openShop();
  const { id } = await client.categories.create({ title: 'All', product_ids: [...ids] });
  await client.products.delete(ids[0]);
  expect((await client.categories.get(id)).product_ids).toEqual(ids.slice(1));
});

test.each([
  [
    'an unknown product id',
    'product_ids[0]=first&product_ids[1]=prd_none',
    /^product_ids\[1\] has to be the id of a product$/,
  ],
  [
    'a list in the format of generated clients',
    'product_ids=first,second',
    /^product_ids\[0\] .*A list is sent as product_ids\[0\]=/,
  ],
  [
    'the same product twice',
    'product_ids[0]=first&product_ids[1]=first',
    /^product_ids must not contain duplicates$/,
  ],
])(
  '[spec: Category] product_ids: rejects %s, because the ids must be ids of products',
  async (_, given, error) => {
    const { client, send, ids } = await openShop();
    const form = given.replaceAll('first', ids[0]).replaceAll('second', ids[1]);
    const refused = { status: 400, body: { errors: [expect.stringMatching(error)] } };
    expect(await send('POST', PATH, `title=Tuners&${form}`)).toMatchObject(refused);
    const { id } = await client.categories.create({ title: 'Tuners', product_ids: [] });
    expect(await send('PUT', `${PATH}/${id}`, form)).toMatchObject(refused);
    expect((await client.categories.get(id)).product_ids).toEqual([]);
  },
);

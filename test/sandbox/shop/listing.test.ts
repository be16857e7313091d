import { describe, expect, test } from 'vitest';
import { OLDER_TUNER, TUNER } from '../seller.js';
import { openVisitor } from './visitor.js';

const SHOP = '/shop/alpha';

test('the shop lists products by category with price and stock, and then products without a category', async () => {
  const { client, get } = await openVisitor();
  const tuner = await client.products.create(TUNER);
  await client.products.create({ ...TUNER, title: 'Metronome', price: 5, info: '' });
  await client.categories.create({ title: 'For guitars', product_ids: [tuner.id] });
  const { status, html } = await get(SHOP);
  expect(status).toBe(200);
  const order = [
    'For guitars',
    'Pocket tuner',
    '€9.90',
    '3 in stock',
    'More products',
    'Metronome',
  ];
  const places = [...order, '€5.00', 'Out of stock'].map((text) => html.indexOf(text));
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(places).not.toContain(-1);
  expect(html).toContain(`href="${SHOP}/product/${tuner.id}"`);
});

test('[spec: Product] hide_stock: the exact stock is replaced by in stock or out of stock', async () => {
  const { client, get, submit } = await openVisitor();
  const { id } = await client.products.create({ ...TUNER, hide_stock: true });
  const page = `${SHOP}/product/${id}`;
  for (const path of [SHOP, page]) {
    const { html } = await get(path);
    expect(html).toContain('In stock');
    expect(html).not.toMatch(/3 in stock|max="3"/);
  }
  const fields = { email: 'a@b.example', country_code: 'US', quantity: '4' };
  const { html } = await submit(page, fields);
  expect(html).toContain('There are fewer in stock than you want to order.');
  expect(html).not.toContain('There are 3');
  await client.products.update(id, { info: '' });
  expect((await get(SHOP)).html).toContain('Out of stock');
});

describe('[spec: Product] unlisted and private', () => {
  test('an unlisted product is not listed, still reachable by direct link', async () => {
    const { client, get } = await openVisitor();
    const { id } = await client.products.create({ ...TUNER, unlisted: true });
    await client.categories.create({ title: 'For guitars', product_ids: [id] });
    expect((await get(SHOP)).html).not.toMatch(/Pocket tuner|For guitars/);
    expect(await get(`${SHOP}/product/${id}`)).toMatchObject({
      status: 200,
      html: expect.stringContaining('Pocket tuner'),
    });
  });

  test('a private product of the newer variant is neither listed nor accessible', async () => {
    const { client, get, post } = await openVisitor();
    const { id } = await client.products.create({ ...TUNER, private: true });
    expect((await get(SHOP)).html).not.toContain('Pocket tuner');
    const pages = [await get(`${SHOP}/product/${id}`), await post(`${SHOP}/product/${id}`, {})];
    for (const { status, html } of pages) {
      expect(status).toBe(404);
      expect(html).not.toContain('Pocket tuner');
    }
  });

  test('a private product of the older variant is not shown in any listing, and is accessible', async () => {
    const { client, get } = await openVisitor({ variant: 'older' });
    const { id } = await client.products.create({ ...OLDER_TUNER, private: true });
    expect((await get(SHOP)).html).not.toContain('Pocket tuner');
    expect((await get(`${SHOP}/product/${id}`)).status).toBe(200);
  });
});

test('[spec: Category] an unlisted category is found only by direct URL', async () => {
  const { client, get } = await openVisitor();
  const [tuner, hidden] = [
    await client.products.create(TUNER),
    await client.products.create({ ...TUNER, title: 'Secret', unlisted: true }),
  ];
  const { id } = await client.categories.create({
    title: 'For friends',
    product_ids: [tuner.id, hidden.id],
    unlisted: true,
  });
  const { html } = await get(SHOP);
  expect(html).toContain('Pocket tuner');
  expect(html).not.toContain('For friends');
  const direct = await get(`${SHOP}/category/${id}`);
  expect(direct.html).toMatch(/For friends[\s\S]*Pocket tuner/);
  expect(direct.html).not.toContain('Secret');
});

test('an empty shop shows how to create a product, and an unknown shop how to create its account', async () => {
  const { get } = await openVisitor();
  const empty = await get(SHOP);
  expect([empty.status, empty.html]).toEqual([
    200,
    expect.stringContaining('curl http://localhost/api/v2/products'),
  ]);
  expect(empty.html).toContain('Bearer sk_test_alpha');
  const unknown = await get('/shop/nobody');
  expect([unknown.status, unknown.html]).toEqual([
    404,
    expect.stringContaining('Bearer sk_test_nobody'),
  ]);
  const hostile = await get(`/shop/${encodeURIComponent("x'; rm -rf <b>")}`);
  expect(hostile.html).not.toContain('rm -rf');
  expect((await get('/')).html).toContain('href="/shop/demo"');
});

test('the commands on the pages of an older sandbox fit its variant', async () => {
  const { get } = await openVisitor({ variant: 'older' });
  const pages = await Promise.all([SHOP, '/shop/nobody', '/'].map(get));
  expect(pages.map(({ html }) => html)).toEqual(
    ['alpha', 'nobody', 'demo'].map((name) =>
      expect.stringContaining(`-u &#39;me@example.com:sk_test_${name}&#39;`),
    ),
  );
  expect(pages[0]?.html).toContain('-d product_type=2 ');
});

test.each(['/product/none', '/category/none', '/checkout/none', '/contact/none', '/none/none'])(
  'the page of a missing record says that it does not exist: %s',
  async (path) => {
    const { get } = await openVisitor();
    const { status, headers, html } = await get(SHOP + path);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(html).toMatch(/There is no such|leads nowhere/);
  },
);

describe('an unknown address', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

  test.each(['/nope', '/shop', '/sandboxes/1'])(
    'gives a browser a page, and does not ask for a password: %s',
    async (path) => {
      const { sandbox } = await openVisitor();
      const response = await sandbox.fetch(`http://localhost${path}`, { headers: BROWSER });
      const { status, headers } = response;
      expect([status, headers.get('www-authenticate')]).toEqual([404, null]);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await response.text()).toContain('The address leads nowhere.');
    },
  );

  test.each([
    ['/nope', {}],
    ['/nope', { accept: 'application/json' }],
    ['/api/v2/nope', BROWSER],
    ['/sandbox/nope', BROWSER],
  ])(
    'gives a program the error of the API, as does any path of the API: %s %j',
    async (path, headers) => {
      const { sandbox } = await openVisitor();
      const response = await sandbox.fetch(`http://localhost${path}`, { headers });
      expect([response.status, await response.json()]).toEqual([
        401,
        { message: expect.stringContaining('Unable') },
      ]);
    },
  );
});

import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { shopRoutes } from '../../../src/sandbox/shop/routes.js';
import { TUNER } from '../seller.js';
import { openStall } from '../trade/stall.js';
import { marketsOf, ORDER, openVisitor } from './visitor.js';

const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;

test('no page renders the text of a seller or a customer as HTML', async () => {
  const { client, account, get, submit } = await openVisitor();
  const product = await client.products.create({
    ...TUNER,
    title: EVIL,
    description: EVIL,
    warranty: EVIL,
    info: `${EVIL};${EVIL}`,
    custom: [{ type: 'text', name: EVIL, required: true }],
  });
  const category = await client.categories.create({ title: EVIL, product_ids: [product.id] });
  const order = await account.buy({ product_id: product.id, gateway: 'paypal' });
  await account.pay(order.id);
  await account.rate(order.id, { rating: 1, message: EVIL });
  const query = await account.ask({ email: EVIL, title: EVIL, message: EVIL });
  const pages = [
    await get('/shop/alpha'),
    await get(`/shop/alpha/category/${category.id}`),
    await get(`/shop/alpha/product/${product.id}?${new URLSearchParams({ email: EVIL })}`),
    await submit(`/shop/alpha/product/${product.id}`, {
      ...ORDER,
      [`custom[${EVIL}]`]: EVIL,
      quantity: EVIL,
    }),
    await get(`/shop/alpha/checkout/${order.id}`),
    await get(`/shop/alpha/contact/${query.id}`),
    await submit('/shop/alpha/contact', { email: EVIL, title: EVIL, message: EVIL }),
    await get(`/shop/${encodeURIComponent(EVIL)}`),
  ];
  for (const { html } of pages) {
    expect(html).not.toMatch(/<script|<img|href="javascript:/i);
    expect(html).toMatch(/&lt;script&gt;|no such shop/);
  }
  const forms = pages.filter(({ html }) => html.includes('name="custom[&quot;'));
  expect(forms).toHaveLength(2);
});

test('an image is shown only if its address is HTTPS', async () => {
  const { market, offer } = openStall();
  const shop = shopRoutes(marketsOf(market));
  const page = async (url: string) => {
    const metadata = { size: 1, filename: 'a.png', mime_type: 'image/png' };
    const { id } = offer({ image: { id: 'f', storage: 's', url, metadata } });
    return (await shop.request(`/shop/stall/product/${id}`)).text();
  };
  const image = '<img src="https://images.example/a.png?x=%22" alt="Tuner">';
  expect(await page('https://images.example/a.png?x="')).toContain(image);
  for (const url of ['http://images.example/a.png', 'javascript:alert(1)', 'a.png']) {
    expect(await page(url)).not.toContain('<img');
  }
});

test.each(['/', '/shop/alpha', '/shop/nobody', '/shop/alpha/contact', '/shop/alpha/webhooks'])(
  'the page %s forbids scripts, frames and content sniffing',
  async (path) => {
    const { get } = await openVisitor();
    const { headers } = await get(path);
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src https:;/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src|unsafe/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
  },
);

describe('a form from a foreign page', () => {
  test.each(['https://evil.example', 'http://localhost:3000', 'null'])(
    'from %s is rejected, even without a port',
    async (origin) => {
      const { post, client } = await openVisitor();
      const { id } = await client.products.create(TUNER);
      const path = `/shop/alpha/product/${id}`;
      expect((await post(path, ORDER, { origin })).status).toBe(403);
      expect((await client.orders.list()).items).toEqual([]);
      expect((await post(path, ORDER, { origin: 'http://localhost' })).status).toBe(303);
    },
  );

  test('is rejected by a listening sandbox as well', async () => {
    const { sandbox, client } = await openVisitor();
    const { url } = await sandbox.listen();
    const { id } = await client.products.create(TUNER);
    const status = await new Promise((resolve, reject) =>
      request(`${url}/shop/alpha/product/${id}`, {
        method: 'POST',
        headers: { origin: 'https://evil.example' },
      })
        .on('response', (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end(),
    );
    expect(status).toBe(403);
  });
});

test('a form that is too large gets a page with the limit', async () => {
  const { post } = await openVisitor();
  const { status, html } = await post('/shop/alpha/contact', { message: 'x'.repeat(1_100_000) });
  expect([status, html]).toEqual([400, expect.stringContaining('at most 1048576 bytes')]);
});

import { describe, expect, test } from 'vitest';
import { TUNER } from '../seller.js';
import { faultsIn, ORDER, openVisitor } from './visitor.js';

async function openProduct(fields: object = {}) {
  const visitor = await openVisitor();
  const product = await visitor.client.products.create({ ...TUNER, ...fields });
  const page = `/shop/alpha/product/${product.id}`;
  return {
    ...visitor,
    product,
    page,
    order: (sent: Record<string, string> = {}, headers = {}) =>
      visitor.post(page, { ...ORDER, ...sent }, headers),
    refused: (sent: Record<string, string> = {}) => visitor.submit(page, { ...ORDER, ...sent }),
    async ordered() {
      const [first] = (await visitor.client.orders.list()).items;
      return first;
    },
  };
}

const field = (type: string, name: string, required = false) => ({ type, name, required });

test('an order form leads to the checkout, and the order has the details of the customer', async () => {
  const { order, ordered } = await openProduct();
  const sent = { quantity: '2', ip_address: '198.51.100.4', risk_level: '12' };
  const referral = 'https://forum.example/tuners';
  const { status, location } = await order({ ...sent, referral }, { 'user-agent': 'Lynx' });
  const made = await ordered();
  expect([status, location]).toEqual([303, `/shop/alpha/checkout/${made?.id}`]);
  expect(made).toMatchObject({
    email: 'ada@example.com',
    country_code: 'GB',
    quantity: 2,
    gateway: 'PayPal',
    ip_address: '198.51.100.4',
    risk_level: 12,
    referral,
    user_agent: 'Lynx',
  });
});

test('[spec: Order] referral: HTTP referrer of the product page', async () => {
  const { sandbox, page, ordered, post } = await openProduct();
  const headers = { referer: 'https://forum.example/tuners' };
  const html = await (await sandbox.fetch(`http://localhost${page}`, { headers })).text();
  const [, referral = ''] = /name="referral" value="([^"]*)"/.exec(html) ?? [];
  await post(page, { ...ORDER, referral });
  expect(await ordered()).toMatchObject({ referral: 'https://forum.example/tuners' });
});

describe('a rejected order shows the reason and keeps the input', () => {
  test.each([
    [{ quantity: '9' }, 'There are 3 in stock, and 9 were ordered.'],
    [{ quantity: 'two' }, 'Quantity has to be a whole number.'],
    [{ quantity: '0' }, 'The quantity has to be at least 1.'],
    [{ email: 'ada' }, 'Email has to be an address'],
    [{ country_code: 'XX' }, 'Country is required.'],
    [{ gateway: 'stripe' }, 'The product does not offer this gateway'],
    [{ risk_level: '101' }, 'Risk level has to be at most 100.'],
  ])('%j', async (sent, sentence) => {
    const { refused, client } = await openProduct();
    const { html } = await refused({ email: 'kept@example.com', ...sent });
    expect(html).toContain('<title>Error: ');
    expect(faultsIn(html)).toEqual({
      [Object.keys(sent)[0] ?? '']: expect.stringContaining(sentence),
    });
    for (const [name, value] of Object.entries(sent)) {
      if (name !== 'gateway' && name !== 'country_code') expect(html).toContain(`value="${value}"`);
    }
    if (!('email' in sent)) expect(html).toContain('kept@example.com');
    expect((await client.orders.list()).items).toEqual([]);
  });

  test('on a page that can be reloaded, until 20 later forms replace it', async () => {
    const { refused, get, submit, page, client } = await openProduct();
    const { location } = await refused({ quantity: '9', email: 'kept@example.com' });
    expect(location).toMatch(new RegExp(`^${page}\\?refused=form_\\w+$`));
    for (let time = 0; time < 20; time++) {
      expect(faultsIn((await get(location)).html)).toHaveProperty('quantity');
      if (time < 19) await submit('/shop/alpha/contact', {});
    }
    await submit('/shop/alpha/contact', {});
    const { status, html } = await get(location);
    expect([status, faultsIn(html)]).toEqual([200, {}]);
    expect(html).not.toMatch(/kept@example|Error: /);
    expect((await client.orders.list()).items).toEqual([]);
  });

  test('at the top of the page, if the reason concerns no field', async () => {
    const { refused, client } = await openProduct();
    await client.blacklist.create({ blacklist_type: 1, blocked_data: 'ada@example.com' });
    const { html } = await refused();
    expect(html).toMatch(/role="alert"><p>The customer&#39;s email is on the blacklist/);
    expect(faultsIn(html)).toEqual({});
  });

  test('[spec: Product] vpn_block', async () => {
    const { order, refused } = await openProduct({ vpn_block: true });
    const { html } = await refused({ vpn: 'yes' });
    expect(faultsIn(html).vpn).toContain('a VPN or a proxy');
    expect(html).toMatch(/<details open/);
    expect(await order()).toMatchObject({ status: 303 });
  });

  test('[spec: Product] max_risk_level', async () => {
    const { order, get } = await openProduct();
    const { location = '' } = await order({ risk_level: '31' });
    expect((await get(location)).html).toMatch(/High risk[\s\S]*risk level of 31/);
  });
});

describe('[spec: Product] a checkout field', () => {
  const ALL = [
    field('select', 'Skill'),
    field('number', 'Strings'),
    field('text', 'Nick "name"'),
    field('hidden', 'campaign'),
    field('textarea', 'Wishes'),
    field('checkbox', 'Newsletter'),
    field('country_dropdown', 'Licence country'),
  ];

  test('each type has its own input, and its value is in the order', async () => {
    const { get, page, order, ordered } = await openProduct({ custom: ALL });
    const { html } = await get(`${page}?custom[campaign]=spring`);
    for (const input of [
      /<select id="custom-0"/,
      /<input type="number" step="any" id="custom-1"/,
      /<input type="text" id="custom-2" name="custom\[Nick &quot;name&quot;\]"/,
      /<input type="hidden" name="custom\[campaign\]" value="spring"/,
      /<textarea id="custom-4"/,
      /<input type="checkbox" id="custom-5"/,
      /<select id="custom-6"[^>]*>[\s\S]*<option value="NO"[^>]*>Norway/,
    ]) {
      expect(html).toMatch(input);
    }
    await order({
      'custom[Skill]': 'Second choice',
      'custom[Strings]': '6.5',
      'custom[Nick "name"]': 'ada & <b>',
      'custom[campaign]': 'spring',
      'custom[Wishes]': 'none',
      'custom[Newsletter]': 'yes',
      'custom[Licence country]': 'NO',
    });
    expect(await ordered()).toMatchObject({
      custom: {
        Skill: 'Second choice',
        Strings: 6.5,
        'Nick "name"': 'ada & <b>',
        campaign: 'spring',
        Wishes: 'none',
        Newsletter: true,
        'Licence country': 'NO',
      },
    });
  });

  test.each(ALL.map(({ type }) => type))('the server requires a required %s', async (type) => {
    const { refused, client, get, page } = await openProduct({
      custom: [field(type, 'Nick', true)],
    });
    const { html } = await refused({ 'custom[Nick]': ' ' });
    const alert = /role="alert"><p>([^<]*)/.exec(html)?.[1];
    const said = type === 'hidden' ? alert : faultsIn(html)['custom[Nick]'];
    expect(said).toBe('Nick is required.');
    expect((await client.orders.list()).items).toEqual([]);
    if (type !== 'hidden') expect((await get(page)).html).toMatch(/custom\[Nick\]"[^>]* required/);
  });

  test.each([
    ['number', 'six', 'Nick has to be a number.'],
    ['select', 'Fourth choice', 'Nick has to be one of its choices.'],
    ['country_dropdown', 'XX', 'Nick has to be a country.'],
  ])('an invalid value of a %s is rejected', async (type, value, sentence) => {
    const { refused } = await openProduct({ custom: [field(type, 'Nick')] });
    const { html } = await refused({ 'custom[Nick]': value });
    expect(faultsIn(html)).toEqual({ 'custom[Nick]': sentence });
  });

  test('a field named __proto__ is an ordinary field', async () => {
    const { order, client } = await openProduct({ custom: [field('text', '__proto__')] });
    await order({ 'custom[__proto__]': 'x' });
    const [made] = (await client.orders.list()).items;
    expect(Object.getOwnPropertyNames(made?.custom)).toEqual(['__proto__']);
    expect({}).not.toHaveProperty('x');
  });
});

test('[spec: Product] customer_details_required: name and address are required, and saved in the order', async () => {
  const { order, refused, ordered } = await openProduct({ customer_details_required: true });
  expect(faultsIn((await refused()).html)).toEqual({
    name: 'Name is required.',
    address: 'Address is required.',
  });
  await order({ name: 'Ada', address: '1 Analytical Way' });
  expect(await ordered()).toMatchObject({
    custom: { customer_name: 'Ada', customer_address: '1 Analytical Way' },
  });
});

test('[spec: Product] warranty, quantities and gateways are shown on the page of a product', async () => {
  const { get, page, account } = await openProduct({
    warranty: 'Replaced once.',
    warranty_duration: 2_592_000,
    minimum_quantity: 2,
    maximum_quantity: 5,
  });
  const { html } = await get(page);
  expect(html).toMatch(/Replaced once\.[\s\S]*30 days/);
  expect(html).toMatch(/name="quantity" min="2" max="3" step="1" value="2"/);
  expect(html).toMatch(/<option value="bitcoin"[\s\S]*<option value="paypal"/);
  account.set({ gateways: ['paypal'] });
  expect((await get(page)).html).not.toContain('value="bitcoin"');
  account.set({ gateways: [] });
  expect((await get(page)).html).toContain('none of its payment gateways is configured');
});

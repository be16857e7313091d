import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, test, vi } from 'vitest';
import { chooseUnknowns, UNKNOWNS } from '../../src/sandbox/unknowns.js';
import { openSeller, PRODUCT_FORM, TUNER } from './seller.js';

describe('the places that the specification does not show', () => {
  test('number fourteen, each with a text of the specification and at least two choices', () => {
    const places = Object.entries(UNKNOWNS);
    expect(places).toHaveLength(14);
    for (const [, { section, said, choices }] of places) {
      expect(section).not.toBe('');
      expect(said).not.toBe('');
      expect(Object.keys(choices).length).toBeGreaterThan(1);
    }
  });

  test('default to their first choice', () => {
    expect(chooseUnknowns({})).toMatchObject({
      retries: 'doubling',
      variant: 'newer',
      emission: 'both',
    });
  });

  test('are chosen by the seed: the same seed makes the same choices, and every choice has a seed', () => {
    expect(chooseUnknowns({}, 7)).toEqual(chooseUnknowns({}, 7));
    const seen = Array.from({ length: 200 }, (_, seed) => chooseUnknowns({}, seed));
    for (const [name, { choices }] of Object.entries(UNKNOWNS)) {
      const picked = seen.map(
        (unknowns) => Object.entries(unknowns).find(([one]) => one === name)?.[1],
      );
      expect(new Set(picked)).toEqual(new Set(Object.keys(choices)));
    }
  });

  test('keep a given choice under any seed', () => {
    for (let seed = 0; seed < 20; seed++) {
      expect(chooseUnknowns({ retries: 'steady' }, seed).retries).toBe('steady');
    }
  });
});

test('newerProducts: lenient requires only the title, and answers a DELETE with 200 and no body', async () => {
  const { send } = await openSeller({ unknowns: { newerProducts: 'lenient' } });
  const made = await send('POST', '/api/v2/products', 'title=Tuner');
  expect(made.status).toBe(201);
  expect((await send('POST', '/api/v2/products', '')).body.errors).toEqual(['title is required']);
  const deleted = await send('DELETE', `/api/v2/products/${made.body.id}`);
  expect(deleted).toMatchObject({ status: 200, body: undefined });
});

test.each([
  ['either', true, true],
  ['private', true, false],
  ['unlisted', false, true],
] as const)('hidingField: %s', async (hidingField, isPrivate, unlisted) => {
  const { send } = await openSeller({ variant: 'older', unknowns: { hidingField } });
  const form = `${PRODUCT_FORM.replace('=serials', '=2')}&private=true&unlisted=true`;
  const { body } = await send('POST', '/api/v2/products', form);
  expect(body).toMatchObject({ private: isPrivate, unlisted });
});

test('limits: tight answers 429 after 60 requests a minute, with a Retry-After', async () => {
  const { account, send } = await openSeller({ clock: 'manual', unknowns: { limits: 'tight' } });
  for (let at = 0; at < 60; at++) expect((await send('GET', '/api/v2/orders')).status).toBe(200);
  const { status, headers } = await send('GET', '/api/v2/orders');
  expect([status, headers.get('retry-after')]).toEqual([429, '60']);
  const other = { authorization: 'Bearer sk_test_other' };
  expect((await send('GET', '/api/v2/orders', undefined, other)).status).toBe(200);
  await account.clock.advance(60_000);
  expect((await send('GET', '/api/v2/orders')).status).toBe(200);
});

test('limits: tight accepts an account again on a fast clock, even if no timer is due', async () => {
  const { send } = await openSeller({ clock: 'fast', unknowns: { limits: 'tight' } });
  for (let at = 0; at < 60; at++) expect((await send('GET', '/api/v2/orders')).status).toBe(200);
  expect((await send('GET', '/api/v2/orders')).status).toBe(429);
  await vi.waitFor(async () => expect((await send('GET', '/api/v2/orders')).status).toBe(200));
});

test('limits: tight rejects bodies above 64 KiB', async () => {
  const { send } = await openSeller({ unknowns: { limits: 'tight' } });
  const { status } = await send('POST', '/api/v2/products', `description=${'x'.repeat(66_000)}`);
  expect(status).toBe(400);
});

test('deprecation: announced sends a Deprecation and a Sunset header, also with an error', async () => {
  const { send } = await openSeller({ unknowns: { deprecation: 'announced' } });
  const answers = [
    await send('GET', '/api/v2/orders'),
    await send('GET', '/api/v2/orders/none'),
    await send('GET', '/api/v2/orders', undefined, { authorization: 'none' }),
    await send('POST', '/api/v2/blacklist', 'blacklist_type=3&blocked_data=FR'),
    await send('POST', '/api/v2/products', 'title='),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 201, 400]);
  for (const { headers } of answers) {
    expect(headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(Date.parse(headers.get('sunset') ?? '')).not.toBeNaN();
  }
  const { send: silent } = await openSeller();
  expect((await silent('GET', '/api/v2/orders')).headers.get('sunset')).toBeNull();
});

test('code that relies only on the specification works under every seed', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const { client, account } = await openSeller({
      seed,
      variant: 'newer',
      unknowns: { credentials: 'either', limits: 'none' },
    });
    const product = await client.products.create(TUNER);
    const order = await account.buy({ product_id: product.id, gateway: 'paypal' });
    await account.pay(order.id);
    expect(await client.orders.get(order.id)).toMatchObject({ status: 100, delivered: 'AAA-1' });
    await client.products.delete(product.id);
  }
});

describe('options', () => {
  test.each([
    [{ varient: 'older' }, /no option varient\. Did you mean "variant"/],
    [{ variant: 'old' }, /variant has to be 'newer' or 'older'/],
    [{ clock: 'slow' }, /clock has to be/],
    [{ db: '' }, /db has to be/],
    [{ webhookSecret: '' }, /webhookSecret has to be/],
    [{ webhookSecret: ' ' }, /webhookSecret has to be/],
    [{ webhookSecret: 'undefined' }, /webhookSecret has to be .*missing value/],
    [{ webhookSecret: new Uint8Array([1]) }, /webhookSecret has to be a text/],
    [{ gateways: ['cash'] }, /gateways has to be/],
    [{ seed: 1.5 }, /seed has to be/],
    [{ unknowns: { retry: 'steady' } }, /unknowns\.retry .*Did you mean "retries"/],
    [
      { unknowns: { retries: 'never' } },
      /unknowns\.retries has to be one of doubling, steady, server-errors/,
    ],
  ])('%j are rejected', (options, message) => {
    expect(() => createSandbox(options as never)).toThrow(message);
    expect(() => createSandbox(options as never)).toThrow(
      expect.objectContaining({ code: 'option_invalid' }),
    );
  });
});

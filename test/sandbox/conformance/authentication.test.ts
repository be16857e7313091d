import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, test } from 'vitest';
import { openSeller, TUNER } from '../seller.js';
import { ENDPOINTS } from './endpoints.js';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe.each(ENDPOINTS)('%s %s', (method, path) => {
  test('[spec: Authentication] a request that cannot be authenticated gets 401', async () => {
    const { send } = await openSeller();
    for (const authorization of [
      '',
      'Bearer',
      'Bearer sk_live_1',
      'Bearer sk_test_',
      basic('me@example.com:no'),
    ]) {
      const { status, headers, body } = await send(method, path, undefined, { authorization });
      expect({ status, body }, authorization).toEqual({
        status: 401,
        body: { message: expect.stringContaining('Unable to authenticate') },
      });
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });
});

test.each(ENDPOINTS.filter(([method]) => method !== 'GET'))(
  '[spec: Authentication] a request that is authenticated but not permitted gets 403: %s %s',
  async (method, path) => {
    const { account, send } = await openSeller();
    account.set({ read_only: true });
    const { status, body } = await send(method, path, method === 'DELETE' ? undefined : '');
    expect({ status, body }).toEqual({
      status: 403,
      body: { message: 'You are not authorised for this action.' },
    });
    expect((await send('GET', '/api/v2/orders')).status).toBe(200);
  },
);

test('[spec: Authentication] newer variant examples: Authorization: Bearer <ACCESS_TOKEN>', async () => {
  const { send } = await openSeller();
  const headers = { authorization: 'Bearer sk_test_other' };
  expect((await send('GET', '/api/v2/orders', undefined, headers)).status).toBe(200);
});

test('[spec: Authentication] older variant: basic authentication with the account email and the account API key', async () => {
  const sandbox = createSandbox({ variant: 'older' });
  const client = createClient({
    baseUrl: 'http://localhost',
    auth: { email: 'seller@example.com', apiKey: 'sk_test_alpha' },
    variant: 'older',
    fetch: sandbox.fetch,
  });
  const { id } = await client.products.create({ ...TUNER, product_type: 2 });
  expect((await client.products.list()).items).toMatchObject([{ id }]);
});

test('both schemes open the account of a key, with any email address', async () => {
  const { client, send } = await openSeller();
  const { id } = await client.products.create(TUNER);
  const authorization = basic('anybody@example.com:sk_test_alpha');
  expect((await send('GET', `/api/v2/products/${id}`, undefined, { authorization })).status).toBe(
    200,
  );
});

test('[spec: Authentication] which scheme applies is not shown: by-variant accepts only the scheme of its variant', async () => {
  const schemes = { bearer: 'Bearer sk_test_alpha', basic: basic('me@example.com:sk_test_alpha') };
  for (const [variant, taken, refused] of [
    ['newer', schemes.bearer, schemes.basic],
    ['older', schemes.basic, schemes.bearer],
  ] as const) {
    const { send } = await openSeller({ variant, unknowns: { credentials: 'by-variant' } });
    const ask = (authorization: string) =>
      send('GET', '/api/v2/orders', undefined, { authorization });
    const scheme = variant === 'older' ? 'basic' : 'bearer';
    const message = expect.stringContaining(`accepts ${scheme} authentication only`);
    expect([await ask(taken), await ask(refused)]).toMatchObject([
      { status: 200 },
      { status: 401, body: { message } },
    ]);
  }
});

import { request } from 'node:http';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OLDER_TUNER } from './seller.js';

const GLOBALS = [globalThis.Request, globalThis.Response];
const sandbox = createSandbox();
let url = '';
beforeAll(async () => {
  ({ url } = await sandbox.listen());
});
afterAll(() => sandbox.close());

describe('a listening sandbox', () => {
  const statusOf = (headers: Record<string, string>, path = '/openapi.json') =>
    new Promise<number | undefined>((resolve, reject) => {
      request(url + path, { headers })
        .on('response', (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });

  test.each(['localhost:4010', '127.0.0.1', '[::1]:1', 'shop.localhost'])(
    'answers the host %s',
    async (host) => {
      expect(await statusOf({ host })).toBe(200);
    },
  );

  test.each(['shop.example', '10.0.0.1', '127.0.0.1.shop.example', 'localhost.shop.example'])(
    'rejects the host %s, under which a foreign page could reach it',
    async (host) => {
      expect(await statusOf({ host })).toBe(403);
    },
  );

  test.each(['https://shop.example', 'null', 'http://127.0.0.1.shop.example'])(
    'rejects a page of %s',
    async (origin) => {
      expect(await statusOf({ origin })).toBe(403);
    },
  );

  test('answers a page of its own', async () => {
    expect(await statusOf({ origin: url })).toBe(200);
  });

  test('answers a link from a foreign page, but no other request that the page makes', async () => {
    const site = { 'sec-fetch-site': 'cross-site' };
    expect(await statusOf({ ...site, 'sec-fetch-mode': 'navigate' })).toBe(200);
    expect(await statusOf({ ...site, 'sec-fetch-mode': 'no-cors' })).toBe(403);
  });

  test('listens on loopback only', async () => {
    const { port, url: other } = await sandbox.listen({ port: 0 });
    expect(other).toBe(`http://127.0.0.1:${port}`);
  });
});

test('a client works with a listening sandbox, beside a sandbox of the other variant', async () => {
  const older = createSandbox({ variant: 'older' });
  const { url: baseUrl } = await older.listen();
  const client = createClient({
    baseUrl,
    auth: { email: 'me@example.com', apiKey: 'sk_test_alpha' },
    variant: 'older',
  });
  expect(await client.products.create(OLDER_TUNER)).toMatchObject({ product_type: 2 });
  await older.close();
  await expect(client.products.list()).rejects.toMatchObject({ code: 'unreachable' });
});

test('a sandbox leaves the global Request and Response unchanged', () => {
  expect([globalThis.Request, globalThis.Response]).toEqual(GLOBALS);
});

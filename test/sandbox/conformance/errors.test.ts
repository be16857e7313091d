import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, describe, expect, test } from 'vitest';
import { PRODUCT_FORM, sell } from '../seller.js';
import { ENDPOINTS } from './endpoints.js';

const sandbox = createSandbox();
afterAll(() => sandbox.close());
let accounts = 0;

/** A seller with the test's own account. */
const openSeller = () => sell(sandbox, 'newer', `sk_test_errors_${++accounts}`);

describe.each(ENDPOINTS)('%s %s', (method, path, operation) => {
  test.each([429, 500, 503] as const)(
    '[spec: Errors] every error body has a string message: %i',
    async (status) => {
      const { account, send } = await openSeller();
      account.faults.add({ operation, status });
      const answered = await send(method, path);
      expect(answered.status).toBe(status);
      expect(answered.body).toEqual({ message: expect.any(String) });
    },
  );

  test.each([
    'application/xml',
    'text/html',
    'text/html, application/xhtml+xml',
    'application/json;q=0',
  ])('[spec: Errors] 406: a format other than JSON was requested, %s', async (accept) => {
    const { send } = await openSeller();
    const { status, body } = await send(method, path, undefined, { accept });
    expect({ status, body }).toEqual({ status: 406, body: { message: expect.any(String) } });
  });
});

test.each(ENDPOINTS.filter(([, path]) => path.endsWith(':id')))(
  '[spec: Errors] 404: resource not found, %s %s',
  async (method, path) => {
    const { send } = await openSeller();
    const form = method === 'PUT' ? '' : undefined;
    const { status, body } = await send(method, path.replace(':id', 'none'), form);
    expect({ status, body }).toEqual({ status: 404, body: { message: expect.any(String) } });
  },
);

test.each([
  undefined,
  '',
  '*/*',
  'application/json',
  'application/*',
  'text/html, application/json;q=0.9',
])('a request that accepts %s gets JSON', async (accept) => {
  const { send } = await openSeller();
  const headers: Record<string, string> = accept === undefined ? {} : { accept };
  expect((await send('GET', '/api/v2/orders', undefined, headers)).status).toBe(200);
});

test('[spec: Errors] validation errors (400) have errors, an array of strings, one per failed check', async () => {
  const { send } = await openSeller();
  const form = `${PRODUCT_FORM.replace('EUR', 'euros').replace('9.90', 'free')}&minimum_quantity=some`;
  const { status, body } = await send('POST', '/api/v2/products', form);
  expect(status).toBe(400);
  expect(body.errors.toSorted()).toEqual([
    'currency has to be an ISO 4217 code',
    'minimum_quantity has to be a number',
    'price has to be a decimal number',
  ]);
});

test('[spec: Errors] 400: message is a validation-failed text', async () => {
  const { send } = await openSeller();
  const { body } = await send('POST', '/api/v2/blacklist', '');
  expect(body.message).toBe('Validation failed.');
});

test.each(['/api/v2', '/api/v2/coupons', '/api/v1/orders', '/api/v2/orders/1/2'])(
  'an unknown path returns 404: %s',
  async (path) => {
    const { send } = await openSeller();
    expect(await send('GET', path)).toMatchObject({
      status: 404,
      body: { message: expect.any(String) },
    });
  },
);

test('[spec: Errors] errors appear only with HTTP status 400 to 503', async () => {
  const served = await sandbox.fetch('http://localhost/openapi.json');
  const document = JSON.parse(await served.text());
  const operations = Object.values(Object(document.paths)).flatMap((methods) =>
    Object.values(Object(methods)),
  );
  const statuses = operations.flatMap((operation) => Object.keys(Object(operation).responses));
  const errors = new Set(statuses.filter((status) => !status.startsWith('2')));
  expect([...errors].sort()).toEqual(['400', '401', '403', '404', '406', '429', '500', '503']);
});

test('[spec: Orders] no other order operations are listed', async () => {
  const { send } = await openSeller();
  for (const [method, path] of [
    ['POST', '/api/v2/orders'],
    ['PUT', '/api/v2/orders/ord_1'],
    ['DELETE', '/api/v2/orders/ord_1'],
  ] as const) {
    expect((await send(method, path)).status).toBe(404);
  }
});

import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  ApiError,
  type ApiErrorCode,
  type ClientOptions,
  createClient,
  type Fetch,
} from 'storefront-webhooks/api';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { json, type Received, type Reply, startProvider } from './provider.js';

const provider = await startProvider();
const elsewhere = await startProvider();
afterAll(() => Promise.all([provider.stop(), elsewhere.stop()]));
beforeEach(() => {
  provider.answers();
  elsewhere.answers();
});

const SECRETS = ['token-of-the-account', 'key-of-the-account'];
const [accessToken = '', apiKey = ''] = SECRETS;

const connect = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: provider.origin, auth: { accessToken }, retries: 0, ...options });
const client = connect();
/** A client with a long timeout, for responses that take long to read on a busy machine. */
const patient = connect({ timeout: 120_000, retries: 2 });

const text =
  (status: number, body: string): Reply =>
  (response) =>
    response.writeHead(status).end(body);

/** Returns the error that a call rejects with. */
async function errorOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, not ${inspect(error)}`);
  return error;
}

test.each<[number, ApiErrorCode]>([
  [400, 'request_invalid'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [406, 'not_acceptable'],
  [422, 'request_invalid'],
  [429, 'rate_limited'],
  [500, 'server_failed'],
  [502, 'server_failed'],
  [503, 'unavailable'],
])("status %d becomes the error %s with the provider's message", async (status, code) => {
  provider.answers(json(status, { message: 'The provider is closed.' }));
  const error = await errorOf(client.products.get('prd_1'));
  expect({ ...error }).toEqual({
    name: 'ApiError',
    code,
    operation: 'products.get',
    status,
    errors: [],
    retryAfterMs: undefined,
  });
  expect(error.message).toBe(
    `products.get: The provider is closed. See node_modules/storefront-webhooks/docs/errors.md#api-${code}`,
  );
});

test('a failed validation lists each failed check', async () => {
  const errors = ['title is required', 'price has to be a decimal number'];
  provider.answers(json(400, { message: 'Validation failed.', errors }));
  const error = await errorOf(client.products.update('prd_1', {}));
  expect(error).toMatchObject({
    message:
      'products.update: Validation failed: title is required, price has to be a decimal number. See node_modules/storefront-webhooks/docs/errors.md#api-request_invalid',
    errors,
  });
  // Logs and CI failures show the stack.
  expect(error.stack).toContain('products.update: Validation failed: title is required');
});

test.each([
  ['no JSON', text(502, '<h1>Bad gateway</h1>')],
  ['an empty body', text(502, '')],
  ['a list', json(502, ['no'])],
  ['a message that is not text', json(502, { message: { deep: true }, errors: 'none' })],
])('an error with %s has the message of its status', async (_, reply) => {
  provider.answers(reply);
  expect(await errorOf(client.products.get('prd_1'))).toMatchObject({
    code: 'server_failed',
    status: 502,
    message:
      'products.get: status 502. See node_modules/storefront-webhooks/docs/errors.md#api-server_failed',
    errors: [],
  });
});

test("the provider's message is one line of limited length, without invisible characters", async () => {
  const forged = 'no\n2026-01-05 ERROR paid\u001b[2J\u202e';
  const errors = [forged, 7, ...Array.from({ length: 500 }, () => 'x'.repeat(5_000))];
  provider.answers(json(400, { message: forged + 'x'.repeat(1e6), errors }));
  const error = await errorOf(client.products.get('prd_1'));
  for (const said of [error.message, ...error.errors]) {
    expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(said.length).toBeLessThan(1_200);
  }
  expect(error.errors).toHaveLength(100);
});

describe('no error contains credentials or sent data', () => {
  const basic = Buffer.from(`seller@example.com:${apiKey}`).toString('base64');
  const clients = [
    connect(),
    connect({ auth: { email: 'seller@example.com', apiKey } }),
    connect({ baseUrl: 'http://127.0.0.1:2' }),
    connect({ timeout: 50 }),
    connect({
      fetch: async (url, init) => {
        throw Object.assign(new Error(`${url} ${inspect(init)}`), { code: inspect(init), init });
      },
    }),
  ];
  const secret = 'buyer@example.com';

  const echo = (response: ServerResponse, { headers, url }: Received) => {
    const [, credential = ''] = headers.authorization?.toString().split(' ') ?? [];
    const said = `You sent ${credential} (${Buffer.from(credential, 'base64')}) to ${url}.`;
    response.writeHead(400).end(JSON.stringify({ message: said, errors: [said] }));
  };
  const echoTwice = (response: ServerResponse, { headers }: Received) => {
    const said = `Do not send ${headers.authorization}. You sent ${headers.authorization}.`;
    response.writeHead(400).end(JSON.stringify({ message: said, errors: [said] }));
  };
  const repeat = (response: ServerResponse, { body }: Received) => {
    const errors = Array.from(new URLSearchParams(body), ([name, value]) => `${name} is ${value}`);
    response.writeHead(400).end(JSON.stringify({ message: errors.join(), errors }));
  };

  test.each<[string, Reply]>([
    ['is refused', json(400, { message: 'no' })],
    ['is given what is no record', json(200, { id: 7, blocked_data: secret })],
    ['is given what is no JSON', text(200, secret)],
    ['is sent elsewhere', text(302, secret)],
    ['is given its credentials back', echo],
    ['is given its credentials back twice', echoTwice],
    ['is given back what it sent', repeat],
    ['gets no answer', () => {}],
    ['is cut off', (response) => response.destroy()],
  ])('when a call %s', async (_, reply) => {
    for (const one of clients) {
      provider.answers(reply);
      const entry = { blacklist_type: 1, blocked_data: secret };
      const call = one.blacklist.create(entry, { signal: AbortSignal.timeout(500) });
      const error = await call.catch((error: unknown) => error);
      const shown = inspect(error, { depth: 10, showHidden: true }) + String(error);
      expect(shown).toMatch(/ApiError|TimeoutError/);
      for (const hidden of [...SECRETS, basic, secret]) expect(shown).not.toContain(hidden);
    }
  });
});

describe('no error contains', () => {
  const PRODUCT = {
    ...{ title: 'Pocket Tuner', description: 'd', product_type: 'serials' as const },
    ...{ price: '1', currency: 'EUR', gateways: ['paypal'] },
  };
  /** Sends a product that the provider refuses with a message, and returns the error as text. */
  const refusal = async (changes: object, message: string, errors: string[] = []) => {
    provider.answers(json(400, { message, errors }));
    return inspect(await errorOf(client.products.create({ ...PRODUCT, ...changes })));
  };

  test.each([
    [{ info: 'AAAA-1111,BBBB-2222' }, 'BBBB-2222'],
    [{ info: 'AAAA-1111; BBBB-2222\r\nCCCC-3333' }, 'BBBB-2222'],
    [{ info: 'AAAA-1111; BBBB-2222\r\nCCCC-3333' }, 'CCCC-3333'],
    [{ info: 'AAAA 1111--BBBB, 2222', stock_delimiter: '--' }, 'BBBB, 2222'],
    // An update need not name the delimiter of its product.
    [{ info: 'AAAA-1111---BBBB-2222---CCCC-3333' }, 'BBBB-2222'],
    [{ info: 'AAAA-1111 BBBB-2222 CCCC-3333' }, 'BBBB-2222'],
    [{ info: 'correcthorse,batterystaple' }, 'batterystaple'],
    [{ info: 'aaaa-1111,bbbb-2222' }, 'BBBB-2222'],
    [{ info: '🔑 Schlüssel: 𝕏-1111-AAAA,BBBB-2222' }, '1111-AAAA'],
  ])('one of the goods in %j', async (changes, one) => {
    const shown = await refusal(changes, `Twice: ${one}`, [`info: ${one} is known`]);
    expect(shown).not.toContain(one);
    expect(shown).toContain('Twice: [redacted]: info: [redacted] is known.');
  });

  test('one of many thousand goods, and takes no time that a lease would need', async () => {
    const goods = Array.from({ length: 20_000 }, (_, at) => `KEY-${at}-${at}`);
    const info = goods.join();
    const sent = performance.now();
    const shown = await refusal({ info }, goods.join('|'), [`twice: ${goods[7]}`]);
    expect(performance.now() - sent).toBeLessThan(8_000);
    for (const one of goods.slice(0, 20)) expect(shown).not.toContain(one);
    expect(shown).toMatch(/products\.create: a text of \d+ characters/);
  });

  test.each([
    ['Buyer@Example.com', 'buyer@example.com'],
    ['buyer@example.com', 'Buyer@Example.COM'],
  ])('the text %s as %s', async (description, said) => {
    const shown = await refusal({ description }, `🚫 ${said} is blocked`);
    expect(shown).toContain('🚫 [redacted] is blocked.');
  });

  test('a text with a dot at its end, at the end of the message', async () => {
    const description = 'Call Ada at +44 123 456.';
    expect(await refusal({ description }, `Bad: ${description}`)).toContain('Bad: [redacted].');
  });

  test('a text without the spaces around it', async () => {
    const shown = await refusal({ description: ' Call Ada ' }, 'Bad: Call Ada, really');
    expect(shown).toContain('Bad: [redacted], really.');
  });

  test('the e-mail of the account', async () => {
    const auth = { email: 'seller@example.com', apiKey };
    provider.answers(json(401, { message: 'No account seller@example.com' }));
    const error = await errorOf(connect({ auth }).products.get('prd_1'));
    expect(error.message).toContain('No account [redacted].');
  });

  test('the rest of a text that ends in the e-mail of the account', async () => {
    const auth = { email: 'seller@example.com', apiKey };
    const blocked = 'another.seller@example.com';
    provider.answers(json(400, { message: `Known: ${blocked}` }));
    const { blacklist } = connect({ auth });
    const entry = { blacklist_type: 1, blocked_data: blocked };
    expect((await errorOf(blacklist.create(entry))).message).toContain('Known: [redacted].');
  });

  test('one of the goods; pieces under six characters stay', async () => {
    const shown = await refusal({ info: 'a,e,i,o,AAAA-1111,' }, 'Validation failed', [
      'no AAAA-1111',
    ]);
    expect(shown).toContain('Validation failed: no [redacted].');
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('with status %d is not followed', async (status) => {
    const location = `${elsewhere.origin}/api/v2/products/prd_1?token=hidden`;
    provider.answers((response) => response.writeHead(status, { location }).end());
    const error = await errorOf(client.products.get('prd_1'));
    expect(error).toMatchObject({ code: 'redirected', status });
    expect(error.message).toContain(`redirects to ${elsewhere.origin},`);
    expect(elsewhere.received).toEqual([]);
    expect(provider.received).toHaveLength(1);
  });

  test('without a location is an error as well', async () => {
    provider.answers(text(304, ''));
    const error = await errorOf(client.products.get('prd_1'));
    expect(error).toMatchObject({ code: 'redirected', status: 304 });
    expect(error.message).toContain('redirects to another address,');
  });
});

const PRODUCT = { id: 'prd_1', title: 'Tuner', product_type: 'file' };

describe('a response that does not match its schema', () => {
  test.each<[string, Reply, string]>([
    ['no JSON', text(200, '<html>'), 'products.get: The answer is not valid JSON.'],
    ['nothing', text(200, ''), 'products.get: The answer is not valid JSON.'],
    ['null', json(200, null), 'products.get: The answer does not fit (expected object).'],
    [
      'a product without its required fields',
      json(200, { id: 7, title: null }),
      'products.get: The answer does not fit (id: expected string, title: expected string, product_type: expected string).',
    ],
  ])('rejects the call: %s', async (_, reply, message) => {
    provider.answers(reply);
    const error = await errorOf(client.products.get('prd_1'));
    expect(error).toMatchObject({
      code: 'response_invalid',
      status: 200,
      message: `${message} See node_modules/storefront-webhooks/docs/errors.md#api-response_invalid`,
    });
  });

  test('is not read beyond 64 MiB of unpacked data, and neither is an error', async () => {
    const bomb = Buffer.concat(Array(128).fill(gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))));
    for (const status of [200, 500]) {
      provider.answers((response) =>
        response.writeHead(status, { 'content-encoding': 'gzip' }).end(bomb),
      );
      const error = await errorOf(patient.products.get('prd_1'));
      expect(error.code).toBe('response_invalid');
      expect(error.message).toContain('products.get: The answer is over 64 MiB');
      expect(error.message).toContain(provider.origin);
      // The client does not retry it.
      expect(provider.received).toHaveLength(1);
    }
  });

  test.each([
    ['never ends', () => new Promise<void>(() => {})],
    ['fails', () => Promise.reject(new Error('it is closed already'))],
  ])('is rejected above 64 MiB at once, although cancelling it %s', async (_, cancel) => {
    const value = new Uint8Array(64 * 1024 * 1024 + 1);
    const endless = vi.fn<Fetch>(async () => ({
      ...{ status: 200, headers: new Headers(), text: () => Promise.resolve('') },
      body: { getReader: () => ({ read: async () => ({ value }), cancel }) },
    }));
    const call = connect({ fetch: endless, timeout: 1_000, retries: 1 }).products.get('prd_1');
    expect((await errorOf(call)).code).toBe('response_invalid');
    expect(endless).toHaveBeenCalledOnce();
  });

  test('is read up to 64 MiB, even if chunks split characters', async () => {
    const title = 'ü€😀'.repeat(7 * 1024 * 1024);
    provider.answers(json(200, { ...PRODUCT, title }));
    const { title: read } = await patient.products.get('prd_1', { onIssues() {} });
    expect(read === title).toBe(true);
  });

  test('can come from a fetch without streams', async () => {
    const plain: Fetch = async () => ({
      ...{ status: 200, headers: new Headers() },
      text: async () => JSON.stringify(PRODUCT),
    });
    const { title } = await connect({ fetch: plain }).products.get('prd_1', { onIssues() {} });
    expect(title).toBe('Tuner');
  });

  test('keeps the record if the field is optional, and reports the field', async () => {
    const entry = { id: 'bl_1', blacklist_type: 1, blocked_data: 'x', note: 5, colour: 'red' };
    const record = { ...entry, created_at: 't', updated_at: 't' };
    provider.answers(json(200, record));
    const onIssues = vi.fn();
    const read = await client.blacklist.get('bl_1', { onIssues });
    expect(read).toEqual({ ...record, note: undefined });
    const issues = [{ path: 'note', message: 'expected string' }];
    expect(onIssues).toHaveBeenCalledExactlyOnceWith(record, issues);
  });

  test('names the field that differs if the other variant answers', async () => {
    provider.answers(json(200, { ...PRODUCT, product_type: 2 }));
    const error = await errorOf(client.products.get('prd_1'));
    expect(error.message).toContain('product_type: expected string');
  });
});

import { type ClientOptions, createClient, type Fetch } from 'storefront-webhooks/api';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { breakOff, json, type Reply, startProvider } from './provider.js';

// Requests that must not be carried out twice, and answers that do not say whether one was carried out.

const provider = await startProvider();
afterAll(() => provider.stop());

const connect = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: provider.origin, auth: { accessToken: 'tok_1' }, ...options });
const client = connect();

const { setTimeout } = globalThis;
beforeEach(() => {
  const sooner = (ms = 0) => (ms > 200 && ms < 2000 ? ms / 10 : ms);
  // The client of Node gives its timers an argument.
  vi.stubGlobal('setTimeout', (done: () => void, ms?: number, ...args: []) =>
    setTimeout(done, sooner(ms), ...args),
  );
});
afterEach(() => vi.unstubAllGlobals());

const DOUBT = 'The request may have been carried out: check before you send it again.';
const PRODUCT = { id: 'prd_1', title: 'Tuner', product_type: 'serials' };
const PAYMENT = { title: 'Tuner', email: 'buyer@example.com', currency: 'EUR', value: '9.90' };

const text =
  (status: number, body: string): Reply =>
  (response) =>
    response.writeHead(status).end(body);
const redirect: Reply = (response) =>
  response.writeHead(303, { location: 'https://elsewhere.example/' }).end();
const tooLong =
  (status: number): Fetch =>
  async () =>
    new Response(new Uint8Array(64 * 1024 * 1024 + 1), { status });

type Changes = Parameters<typeof client.products.update>[1];
const read = { onIssues() {} };
const STOCK: [string, Changes, Record<string, unknown>?][] = [
  ['info', { info: 'AAAA-1,BBBB-2' }],
  ['stock_amount', { title: 'Tuner', stock_amount: 2 }],
  ['no stock_amount', { stock_amount: null }],
  ['info as extra', {}, { info: 'AAAA-1' }],
  ['stock as extra', { title: 'Tuner' }, { stock: 5 }],
  // The client cannot know that it does not add to the stock.
  ['a parameter that the specification does not name', {}, { more: ['AAAA-1'] }],
];

describe.each(STOCK)('an update of a product with %s', (_, changes, extra = {}) => {
  const update = () => client.products.update('prd_1', changes, { ...read, extra });

  test.each<[string, Reply]>([
    ['502', json(502)],
    ['a connection that breaks', breakOff],
  ])('is not retried after %s, because it could undo a sale', async (_, fault) => {
    provider.answers(fault, json(200, PRODUCT));
    await expect(update()).rejects.toThrow(DOUBT);
    expect(provider.received).toHaveLength(1);
  });

  test('that got no answer may have been carried out', async () => {
    provider.answers(breakOff);
    await expect(update()).rejects.toThrow(DOUBT);
  });

  test('is retried after 429, because the provider did not carry it out', async () => {
    provider.answers(json(429), json(200, PRODUCT));
    expect(await update()).toMatchObject(PRODUCT);
  });
});

test('an update of a product without its stock is retried', async () => {
  provider.answers(json(502), json(200, PRODUCT));
  const changes = { price: '8.90', title: 'info', gateways: ['paypal'] };
  const options = { ...read, extra: { seller: undefined, unlisted: true } };
  expect(await client.products.update('prd_1', changes, options)).toMatchObject(PRODUCT);
});

describe('the error of a POST', () => {
  const pay = (options: Partial<ClientOptions> = {}) =>
    connect(options).payments.create({ ...PAYMENT, gateway: 'bitcoin', white_label: true });

  test.each<[string, Reply]>([
    ['unavailable', json(503, { message: 'Offline' })],
    ['server_failed', text(502, '<h1>Bad gateway</h1>')],
    ['server_failed', json(501, { message: 'No!' })],
    ['response_invalid', text(201, '<html>')],
    ['response_invalid', json(201, { id: 7 })],
    ['redirected', redirect],
    ['redirected', text(304, '')],
  ])('%s says that the provider may have carried it out', async (code, reply) => {
    provider.answers(reply);
    await expect(pay()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(new RegExp(`^payments.create: .*[.!] ${DOUBT} See [^ ]*$`)),
    });
    expect(provider.received).toHaveLength(1);
  });

  test('says so if the answer is too long, unless its status turns the call away', async () => {
    await expect(pay({ fetch: tooLong(201) })).rejects.toThrow(
      new RegExp(`over 64 MiB.* ${DOUBT}`),
    );
    await expect(pay({ fetch: tooLong(400) })).rejects.toThrow(/^(?!.*carried out).*over 64 MiB/);
  });

  test.each([400, 401, 403, 404, 406, 422])('does not say so after %d', async (status) => {
    provider.answers(json(status, { message: 'No.' }));
    await expect(pay()).rejects.toThrow(/^payments.create: No\. See /);
  });
});

test('an unreadable answer to a change of stock may follow a change that was carried out', async () => {
  provider.answers(text(200, '<html>'));
  await expect(client.products.update('prd_1', { info: 'AAAA-1' })).rejects.toThrow(DOUBT);
});

test('the error of a call that may be repeated has no such warning', async () => {
  provider.answers(text(200, '<html>'));
  const call = client.products.update('prd_1', { price: '8.90' });
  await expect(call).rejects.toThrow(/^products.update: The answer is not valid JSON\. See /);
});

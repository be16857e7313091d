import { type ClientOptions, createClient } from 'storefront-webhooks/api';
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
  vi.stubGlobal('setTimeout', (done: () => void, ms?: number) => setTimeout(done, sooner(ms)));
});
afterEach(() => vi.unstubAllGlobals());

const DOUBT = 'The request may have been carried out: check before you send it again.';
const PRODUCT = { id: 'prd_1', title: 'Tuner', product_type: 'serials' };

type Changes = Parameters<typeof client.products.update>[1];
const read = { onIssues() {} };
const STOCK: [string, Changes, Record<string, unknown>?][] = [
  ['info', { info: 'AAAA-1,BBBB-2' }],
  ['stock_amount', { title: 'Tuner', stock_amount: 2 }],
  ['no stock_amount', { stock_amount: null }],
  ['info as extra', {}, { info: 'AAAA-1' }],
];

describe.each(STOCK)('an update of a product with %s', (_, changes, extra = {}) => {
  const update = () => client.products.update('prd_1', changes, { ...read, extra });

  test.each<[string, Reply]>([
    ['502', json(502)],
    ['a connection that breaks', breakOff],
  ])('is not retried after %s, because it could undo a sale', async (_, fault) => {
    provider.answers(fault, json(200, PRODUCT));
    await expect(update()).rejects.toMatchObject({ name: 'ApiError' });
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
  const changes = { price: '8.90', title: 'info' };
  expect(await client.products.update('prd_1', changes, read)).toMatchObject(PRODUCT);
});

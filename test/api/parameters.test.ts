import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { endpoints, operations } from '../../src/api/endpoints.js';
import { listQuery } from '../../src/api/parameters.js';
import { findFaults } from '../../src/api/validation.js';

// The provider's checks of a request, by the specification.

const { products, categories, blacklist, webhookEndpoints, payments } = endpoints;

const newer = {
  title: 'Tuner',
  description: 'Pocket',
  product_type: 'serials',
  price: '9.90',
  currency: 'EUR',
  gateways: ['paypal'],
};
const older = { ...newer, product_type: 2, gateways: ['Paypal'] };
const payment = {
  title: 'Tuner',
  email: 'buyer@example.com',
  currency: 'EUR',
  value: 9.9,
  gateway: 'bitcoin',
};
const hosted = { ...payment, return_url: 'https://shop.example' };

const { newer: newerProduct, older: olderProduct } = products.create.sent;
const { newer: productChanges } = products.update.sent;
const { newer: newCategory } = categories.create.sent;
const { newer: newEntry } = blacklist.create.sent;
const { newer: newEndpoint } = webhookEndpoints.create.sent;
const { newer: newPayment } = payments.create.sent;

test.each<[string, z.ZodMiniType, object]>([
  ['a list', listQuery, { page: 3, per_page: 10 }],
  ['a product of the newer variant', newerProduct, newer],
  ['a product of the older variant', olderProduct, older],
  ['no change', productChanges, {}],
  ['a category', newCategory, { title: 'Tuners', product_ids: [] }],
  ['a blacklist entry', newEntry, { blacklist_type: 3, blocked_data: 'XX' }],
  ['a webhook endpoint', newEndpoint, { url: 'https://a.example', events: ['order:paid'] }],
  ['a payment', newPayment, { ...hosted, white_label: false, confirmations: 0 }],
  ['a white-label payment', newPayment, { ...payment, white_label: true, ip_address: '::1' }],
])('%s may be sent', (_, schema, parameters) => {
  expect(findFaults(schema, parameters)).toEqual([]);
});

test.each<[string, z.ZodMiniType, object, string[]]>([
  [
    'a list',
    listQuery,
    { page: 0, per_page: 51 },
    ['page has to be at least 1', 'per_page has to be at most 50'],
  ],
  [
    'a product with nothing',
    newerProduct,
    {},
    ['title', 'description', 'price', 'currency', 'product_type', 'gateways'].map(
      (name) => `${name} is required`,
    ),
  ],
  [
    'a product with invalid fields',
    newerProduct,
    {
      ...newer,
      price: 'cheap',
      currency: 'Euro',
      product_type: 2,
      gateways: ['barter'],
      vpn_block: 'no',
      minimum_quantity: 1.5,
      custom: [{ type: 'text', name: 7, required: true }],
    },
    [
      'vpn_block has to be true or false',
      'custom[0][name] has to be text',
      'price has to be a decimal number',
      'currency has to be an ISO 4217 code',
      'product_type has to be one of file, serials, dynamic, service',
      'gateways[0] has to be one of paypal, stripe, cashapp, bitcoin, ethereum, litecoin, bitcoin_cash, perfect_money, skrill, dogecoin, bnb, polygon',
      'minimum_quantity has to be a whole number',
    ],
  ],
  [
    'an older product',
    olderProduct,
    { ...older, product_type: 5, gateways: 'Paypal' },
    ['product_type has to be at most 4', 'gateways has to be a list'],
  ],
  ['a change', productChanges, { price: null }, ['price has to be a decimal number']],
  ['a category', newCategory, { title: 'Tuners' }, ['product_ids is required']],
  [
    'a blacklist entry',
    newEntry,
    { blacklist_type: 4, blocked_data: 1 },
    ['blacklist_type has to be at most 3', 'blocked_data has to be text'],
  ],
  [
    'a webhook endpoint',
    newEndpoint,
    { url: 'http://a.example' },
    ['url has to begin with https://', 'events is required'],
  ],
  ['a payment without a return address', newPayment, payment, ['return_url is required']],
  ['a payment', newPayment, { ...hosted, confirmations: 7 }, ['confirmations has to be at most 6']],
  [
    'a payment without a flow',
    newPayment,
    { ...hosted, white_label: 'yes' },
    ['white_label has to be true or false'],
  ],
  [
    'a number of confirmations',
    olderProduct,
    { ...older, crypto_confirmations: -1 },
    ['crypto_confirmations has to be at least 0'],
  ],
  [
    'a changed number of confirmations',
    products.update.sent.older,
    { crypto_confirmations: -1 },
    ['crypto_confirmations has to be at least 0'],
  ],
  [
    'a union of other values',
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('file') }),
      z.object({ kind: z.optional(z.literal(3)) }),
    ]),
    { kind: true },
    ['kind has to be one of file, 3'],
  ],
  [
    'a union without a common field',
    z.object({ body: z.union([z.string(), z.number()]) }),
    { body: true },
    ['body is not as expected'],
  ],
])('%s is rejected with a text for each check', (_, schema, parameters, faults) => {
  expect(findFaults(schema, parameters).sort()).toEqual(faults.sort());
});

describe('the defaults of the specification', () => {
  test('apply to lists, new products and payments', () => {
    expect(z.parse(listQuery, {})).toEqual({ page: 1, per_page: 20 });
    const defaults = {
      minimum_quantity: 1,
      maximum_quantity: null,
      max_risk_level: 30,
      stock_delimiter: ',',
    };
    expect(z.parse(newerProduct, newer)).toEqual({ ...newer, ...defaults });
    expect(z.parse(olderProduct, older)).toEqual({
      ...older,
      ...defaults,
      crypto_confirmations: 1,
    });
    expect(z.parse(newPayment, hosted)).toEqual({ ...hosted, confirmations: 1 });
  });

  const updates = operations.filter(([, { kind }]) => kind === 'update');

  test.each(updates)('do not apply to %s, which changes only the sent fields', (_, row) => {
    if (row.kind !== 'update') throw new Error('expected an update');
    for (const schema of Object.values(row.sent)) expect(z.parse(schema, {})).toEqual({});
  });
});

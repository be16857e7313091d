import fc from 'fast-check';
import {
  blacklistEntrySchema,
  categorySchema,
  hostedPaymentSchema,
  newerProductSchema,
  olderProductSchema,
  orderSchema,
  paymentSchema,
  productSchema,
  type ResourceSchema,
  webhookEndpointSchema,
  webhookLogSchema,
  whiteLabelPaymentSchema,
} from 'storefront-webhooks';
import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

fc.configureGlobal({ seed: 7396 });

// Every field of the specification with a valid value: the required fields, then the others.
const RESOURCES: [string, ResourceSchema<object>, required: object, rest: object][] = [
  ['an order', orderSchema, ...savedAs('order:paid', ['id', 'status', 'email'])],
  ['a product', productSchema, ...savedAs('product:out_of_stock', ['id', 'title', 'product_type'])],
  [
    'a newer product',
    newerProductSchema,
    ...savedAs('product:out_of_stock', ['id', 'title', 'product_type']),
  ],
  [
    'an older product',
    olderProductSchema,
    ...savedAs('product:out_of_stock/older', ['id', 'title', 'product_type']),
  ],
  [
    'a category',
    categorySchema,
    { id: 'cat_1', title: 'Tuners' },
    { product_ids: ['prd_1'], unlisted: false, image: null, created_at: 't', updated_at: 't' },
  ],
  [
    'a blacklist entry',
    blacklistEntrySchema,
    { id: 'bl_1', blacklist_type: 1, blocked_data: 'buyer@example.com' },
    { note: null, created_at: 't', updated_at: 't' },
  ],
  [
    'a webhook endpoint',
    webhookEndpointSchema,
    { id: 'whe_1', url: 'https://shop.example/webhooks' },
    { enabled: true, events: ['order:paid'], created_at: 't', updated_at: 't' },
  ],
  [
    'a webhook log',
    webhookLogSchema,
    { id: 'whl_1', event: 'order:paid', payload: { id: 'ord_1' } },
    {
      url: 'https://shop.example/webhooks',
      response: 'OK',
      response_code: 200,
      response_headers: { server: 'nginx' },
      retries: 0,
      retry_limit: 3,
      next_retry_at: 't',
      created_at: 't',
      updated_at: 't',
    },
  ],
  ['a payment', paymentSchema, { url: 'https://pay.example/1' }, {}],
  ['a hosted payment', hostedPaymentSchema, { url: 'https://pay.example/1' }, {}],
  [
    'a white-label payment',
    whiteLabelPaymentSchema,
    { id: 'ord_1', status: 54, email: 'buyer@example.com' },
    {
      crypto_address: 'bc1',
      crypto_value: 33_000,
      confirmations_needed: 1,
      product_id: 'pay',
      value: '19.90',
      quantity: 1,
      currency: 'EUR',
      gateway: 'Bitcoin',
      crypto_channel: null,
      usd_value: '21.64',
      exchange_rate: '1.0874',
      created_at: 't',
      updated_at: 't',
      url: 'bitcoin:bc1',
    },
  ],
];

/** The payload of a shipped fixture, with its required fields apart. */
function savedAs(fixture: string, required: string[]): [object, object] {
  const { body } = loadFixture(fixture);
  const fields = Object.entries(JSON.parse(new TextDecoder().decode(body), withTextPrice));
  const pick = (isRequired: boolean) =>
    Object.fromEntries(fields.filter(([name]) => required.includes(name) === isRequired));
  return [pick(true), pick(false)];
}

// A number would become text, which decimal.test.ts tests.
function withTextPrice(name: string, value: unknown): unknown {
  return name === 'price' ? String(value) : value;
}

// No field of any resource accepts an array with a number.
const ODD = [7];

/** The buyer's input is kept, whatever it is. */
function isFree(schema: ResourceSchema<object>, field: string): boolean {
  return schema === orderSchema && field === 'custom';
}

type Reading = ReturnType<ResourceSchema<object>['read']>;

function readingOf(reading: Reading): Extract<Reading, { value: object }> {
  if ('value' in reading) return reading;
  throw new Error(`expected a value, not ${JSON.stringify(reading.issues)}`);
}

describe.each(RESOURCES)('%s', (_, schema, required, rest) => {
  const complete = { ...required, ...rest };
  const fieldsOf = (issues: readonly { path: string }[]) =>
    issues.map(({ path }) => path.split('.')[0]);

  test('that is complete is parsed unchanged', () => {
    expect(schema.read(complete)).toEqual({ value: complete, issues: [] });
  });

  test('is not modified by parsing', () => {
    for (const odd of [{ extra: { deep: 1 } }, { created_at: ODD }, { url: ODD, id: ODD }]) {
      const input = Object.freeze({ ...complete, ...odd });
      const before = structuredClone(input);
      schema.read(input);
      expect(input).toEqual(before);
    }
  });

  test.each(Object.keys(rest))('may lack %s without an issue', (field) => {
    const { [field]: _, ...others } = Object(complete);
    expect(schema.read(others)).toEqual({ value: others, issues: [] });
    const { value, issues } = readingOf(schema.read({ ...others, [field]: null }));
    expect(issues).toEqual([]);
    expect([null, undefined]).toContain(Object(value)[field]);
  });

  test.each(Object.keys(rest).filter((field) => !isFree(schema, field)))(
    'with a %s of another type is accepted with an issue',
    (field) => {
      const reading = schema.read({ ...complete, [field]: ODD });
      expect(reading).toMatchObject({ value: { ...complete, [field]: undefined } });
      expect(fieldsOf(reading.issues)).toEqual([field]);
      expect(reading.issues[0]?.message).toMatch(/^expected /);
    },
  );

  test.each(Object.keys(required))('without %s is rejected', (field) => {
    const { [field]: _, ...others } = Object(complete);
    for (const value of [undefined, null, ODD]) {
      const reading = schema.read({ ...others, [field]: value });
      expect(reading).not.toHaveProperty('value');
      expect(fieldsOf(reading.issues)).toContain(field);
    }
    expect(schema.read(others)).not.toHaveProperty('value');
  });

  test('needs no more than its required fields', () => {
    expect(schema.read(required)).toEqual({ value: required, issues: [] });
  });

  test('keeps unknown fields, also beside invalid ones', () => {
    for (const input of [complete, { ...required, created_at: ODD }]) {
      const text = JSON.stringify(input).replace(
        '{',
        '{"extra":{"a":[1]},"constructor":"c","__proto__":{"polluted":true},',
      );
      const { value } = readingOf(schema.read(JSON.parse(text)));
      expect(Object.entries(value)).toEqual(
        expect.arrayContaining([
          ['extra', { a: [1] }],
          ['constructor', 'c'],
          ['__proto__', { polluted: true }],
        ]),
      );
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(value).not.toHaveProperty('polluted');
      expect({}).not.toHaveProperty('polluted');
    }
  });

  test('does not inherit a field', () => {
    const text = `{"__proto__":${JSON.stringify(complete)}}`;
    expect(schema.read(JSON.parse(text))).not.toHaveProperty('value');
  });

  test.each([[undefined], [null], [7], ['text'], [[]], [[complete]]])(
    'rejects %j as a whole',
    (input) => {
      expect(schema.read(input)).toEqual({ issues: [{ path: '', message: 'expected object' }] });
    },
  );

  test('can be parsed through the Standard Schema interface', () => {
    const standard = schema['~standard'];
    expect(standard).toMatchObject({ version: 1, vendor: 'storefront-webhooks' });
    expect(standard.validate(complete)).toEqual({ value: complete });
    expect(standard.validate({ ...required, extra: 1 })).toEqual({
      value: { ...required, extra: 1 },
    });
    const [field = ''] = Object.keys(required);
    expect(standard.validate({ ...complete, [field]: ODD })).toEqual({
      issues: [{ path: [field], message: expect.stringMatching(/^expected /) }],
    });
  });

  test('accepts any JSON in its optional fields, and never throws', () => {
    const fields = fc.record(
      Object.fromEntries(Object.keys(rest).map((name) => [name, fc.jsonValue()])),
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, fc.jsonValue(), (odd, anything) => {
        const { value, issues } = readingOf(schema.read({ ...odd, ...required }));
        const sent = new Map(Object.entries(odd));
        const left = Object.entries(value).filter(
          ([name, field]) => field === undefined && sent.get(name) !== null,
        );
        expect(fieldsOf(issues).sort()).toEqual(left.map(([name]) => name).sort());
        expect(schema.read(anything)).toHaveProperty('issues');
      }),
    );
  });
});

test('a payload of any depth is accepted', () => {
  const depth = 100_000;
  const deep = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  const order = { id: 'ord_1', status: 100, email: 'buyer@example.com', custom: deep, extra: deep };
  expect(orderSchema.read(order)).toMatchObject({ value: { id: 'ord_1' } });
});

test('a value that is rejected as a whole has no path in the Standard Schema interface', async () => {
  const { issues = [] } = await orderSchema['~standard'].validate('text');
  expect(issues.map(({ path = [] }) => path)).toEqual([[]]);
});

import {
  isOlderProduct,
  newerProductSchema,
  olderProductSchema,
  productSchema,
} from 'storefront-webhooks';
import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

const saved = (name: string) => JSON.parse(new TextDecoder().decode(loadFixture(name).body));
const newer = saved('product:out_of_stock');
const older = saved('product:out_of_stock/older');

const VARIANTS = [
  { variant: 'newer', schema: newerProductSchema, complete: newer },
  { variant: 'older', schema: olderProductSchema, complete: older },
];

describe.each(VARIANTS)('a product of the $variant variant', ({ schema, complete }) => {
  test('is parsed by the schema of both variants as by its own', () => {
    expect(productSchema.read(complete)).toEqual(schema.read(complete));
    expect(productSchema.read(complete).issues).toEqual([]);
    expect(productSchema.read({ ...complete, title: 1 })).toEqual(
      schema.read({ ...complete, title: 1 }),
    );
  });

  test.each([0, 7, -1, '∞'])('may have a stock of %s', (stock) => {
    expect(schema.read({ ...complete, stock })).toMatchObject({ value: { stock }, issues: [] });
  });

  test.each(['7', 'infinite', '', 1.5, [0], Number.POSITIVE_INFINITY])(
    'rejects a stock of %j',
    (stock) => {
      expect(schema.read({ ...complete, stock })).toMatchObject({
        value: { stock: undefined },
        issues: [{ path: 'stock', message: 'expected integer or "∞"' }],
      });
    },
  );

  test('has decimal text for its price', () => {
    expect(schema.read({ ...complete, price: 19.9 })).toMatchObject({ value: { price: '19.9' } });
    expect(schema.read({ ...complete, price: '19.90' })).toMatchObject({
      value: { price: '19.90' },
    });
  });

  test('may have gateways that are unknown today, but only as text', () => {
    const gateways = ['paypal', 'barter'];
    expect(schema.read({ ...complete, gateways })).toMatchObject({
      value: { gateways },
      issues: [],
    });
    expect(schema.read({ ...complete, gateways: ['paypal', 1] })).toMatchObject({
      value: { gateways: undefined },
      issues: [{ path: 'gateways.1', message: 'expected string' }],
    });
  });

  test.each([
    'image',
    'file',
    'info',
    'maximum_quantity',
    'stock_amount',
    'dynamic_url',
    'seller_note',
  ])('may have null for its %s', (field) => {
    expect(schema.read({ ...complete, [field]: null })).toMatchObject({
      value: { [field]: null },
      issues: [],
    });
  });

  test.each([
    'description',
    'stock',
    'price',
    'currency',
    'gateways',
    'stock_delimiter',
    'minimum_quantity',
    'unlisted',
    'private',
    'vpn_block',
    'theme',
    'max_risk_level',
    'created_at',
    'updated_at',
  ])('has no %s if it is null', (field) => {
    expect(schema.read({ ...complete, [field]: null })).toMatchObject({
      value: { [field]: undefined },
      issues: [],
    });
  });
});

describe('the variant of a product', () => {
  test.each([1, 2, 3, 4, 9])('is the older one with product_type %i', (product_type) => {
    const reading = productSchema.read({ ...older, product_type });
    expect(reading.issues).toEqual([]);
    expect('value' in reading && isOlderProduct(reading.value)).toBe(true);
  });

  test.each(['file', 'serials', 'dynamic', 'service', 'subscription'])(
    'is the newer one with product_type "%s"',
    (product_type) => {
      const reading = productSchema.read({ ...newer, product_type });
      expect(reading.issues).toEqual([]);
      expect('value' in reading && isOlderProduct(reading.value)).toBe(false);
    },
  );

  test.each([undefined, null, 1.5, ['file']])('cannot be determined from %j', (product_type) => {
    expect(productSchema.read({ ...newer, product_type })).toMatchObject({
      issues: [{ path: 'product_type' }],
    });
    expect(productSchema.read({ ...newer, product_type })).not.toHaveProperty('value');
  });
});

describe('the newer variant', () => {
  test.each([
    'select',
    'number',
    'text',
    'hidden',
    'textarea',
    'checkbox',
    'country_dropdown',
    'slider',
  ])('may ask the buyer for a %s', (type) => {
    const custom = [{ type, name: 'discord', required: true, placeholder: '@' }];
    expect(newerProductSchema.read({ ...newer, custom })).toMatchObject({
      value: { custom },
      issues: [],
    });
  });

  test('reports the invalid part of a custom field', () => {
    const custom = [
      { type: 'text', name: 'a', required: true },
      { type: 'text', name: 'b' },
    ];
    expect(newerProductSchema.read({ ...newer, custom })).toMatchObject({
      value: { custom: undefined },
      issues: [{ path: 'custom.1.required', message: 'expected boolean' }],
    });
  });

  test.each(['warranty', 'warranty_duration', 'redirect_url', 'hide_stock'])(
    'may have null for its %s',
    (field) => {
      expect(newerProductSchema.read({ ...newer, [field]: null })).toMatchObject({
        value: { [field]: null },
        issues: [],
      });
    },
  );
});

describe('the older variant', () => {
  test.each([{}, null, { size: 'L' }])('may have %j for its custom fields', (custom) => {
    expect(olderProductSchema.read({ ...older, custom })).toMatchObject({
      value: { custom },
      issues: [],
    });
  });

  test('has a number for its theme, unlike the newer one', () => {
    expect(olderProductSchema.read({ ...older, theme: 2 }).issues).toEqual([]);
    expect(olderProductSchema.read({ ...older, theme: 'dark' }).issues).toMatchObject([
      { path: 'theme' },
    ]);
    expect(newerProductSchema.read({ ...newer, theme: 2 }).issues).toMatchObject([
      { path: 'theme' },
    ]);
  });

  test('may have no webhook_url', () => {
    expect(olderProductSchema.read({ ...older, webhook_url: null }).issues).toEqual([]);
  });
});

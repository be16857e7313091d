import { describe, expect, test } from 'vitest';
import { OLDER_PRODUCT_FORM, OLDER_TUNER, openSeller, PRODUCT_FORM, TUNER } from '../seller.js';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00$/;

describe('the fields of a product that was created with the required fields only', () => {
  const rows: readonly [field: string, says: string, value: unknown][] = [
    ['id', 'string, unique identifier', expect.stringMatching(/^\w+$/)],
    ['title', 'string, display title', 'Pocket tuner'],
    ['description', 'string, raw markdown', 'Tunes **guitars**.'],
    ['stock', 'integer or string, current stock count', 3],
    ['price', 'price for 1 quantity; amounts are decimal strings in responses', '9.90'],
    ['currency', 'ISO 4217 code used at checkout', 'EUR'],
    ['gateways', 'array of string, enabled payment gateways', ['bitcoin', 'paypal']],
    ['image', 'object or null', null],
    ['info', 'the goods for the stock', 'AAA-1;BBB-2;CCC-3'],
    ['file', 'object or null', null],
    ['stock_delimiter', 'splits stock out of info', ';'],
    ['maximum_quantity', 'integer or null. Default null', null],
    ['minimum_quantity', 'integer. Default 1', 1],
    ['stock_amount', 'integer or null', null],
    ['dynamic_url', 'string or null', null],
    ['unlisted', 'boolean', false],
    ['private', 'boolean', false],
    ['vpn_block', 'boolean', false],
    ['seller_note', 'string or null', null],
    ['max_risk_level', 'integer. Default 30', 30],
    ['created_at', 'timestamp', expect.stringMatching(TIMESTAMP)],
    ['updated_at', 'timestamp', expect.stringMatching(TIMESTAMP)],
  ];
  const newer: typeof rows = [
    ['product_type', 'enum (newer)', 'serials'],
    ['custom', 'array (newer), custom checkout input fields', []],
    ['customer_details_required', 'boolean (newer variant)', false],
    ['warranty', 'string or null (newer variant)', null],
    ['warranty_duration', 'integer or null (newer variant)', null],
    ['redirect_url', 'string or null (newer variant)', null],
    ['hide_stock', 'boolean or null (newer variant)', false],
    ['theme', 'string (newer)', expect.any(String)],
  ];
  const older: typeof rows = [
    ['product_type', 'integer (older)', 2],
    ['theme', 'integer (older)', expect.any(Number)],
    ['crypto_confirmations', 'older variant. Default 1', 1],
    ['paypal_email_delivery', 'boolean, older variant', false],
    ['webhook_url', 'string or null, older variant', null],
  ];

  test.each([...rows, ...newer])('[spec: Product] %s: %s', async (field, _, value) => {
    const { client, send } = await openSeller();
    const { id } = await client.products.create(TUNER);
    const { body } = await send('GET', `/api/v2/products/${id}`);
    expect(body[field]).toEqual(value);
  });

  test.each([...rows, ...older])(
    '[spec: Product] older variant, %s: %s',
    async (field, _, value) => {
      const { client, send } = await openSeller({ variant: 'older' });
      const { id } = await client.products.create(OLDER_TUNER);
      const { body } = await send('GET', `/api/v2/products/${id}`);
      expect(body[field]).toEqual(value);
    },
  );

  test('[spec: Product] older variant: custom is returned as an empty object or null', async () => {
    for (const [olderCustom, custom] of [
      ['empty', {}],
      ['none', null],
    ] as const) {
      const { client } = await openSeller({ variant: 'older', unknowns: { olderCustom } });
      const product = await client.products.create({ ...OLDER_TUNER, custom: [{ any: 'thing' }] });
      expect(product.custom).toEqual(custom);
    }
  });

  test('[spec: Product] neither variant has the fields that only the other one has', async () => {
    const names = async (variant: 'newer' | 'older', form: string) => {
      const { send } = await openSeller({ variant });
      return Object.keys((await send('POST', '/api/v2/products', form)).body);
    };
    const [ofNewer, ofOlder] = [
      await names('newer', PRODUCT_FORM),
      await names('older', OLDER_PRODUCT_FORM),
    ];
    const all = (own: typeof rows) => [...rows, ...own].map(([field]) => field).sort();
    expect(ofNewer.sort()).toEqual(all(newer));
    expect(ofOlder.sort()).toEqual([...all(older), 'custom'].sort());
  });
});

describe('the stock of a product', () => {
  const stockOf = async (fields: object) => {
    const { client } = await openSeller();
    return (await client.products.create({ ...TUNER, ...fields })).stock;
  };

  test.each([
    ['the file type', { product_type: 'file' }],
    ['the dynamic type', { product_type: 'dynamic' }],
    ['the service type', { product_type: 'service' }],
  ])('[spec: Product] stock returns the string ∞ when the product is of %s', async (_, fields) => {
    expect(await stockOf(fields)).toBe('∞');
  });

  test('[spec: Product] stock of the file type is the number if stock_amount is set', async () => {
    expect(await stockOf({ product_type: 'file', stock_amount: 7 })).toBe(7);
  });

  test('[spec: Product] stock_amount: null = unlimited', async () => {
    expect(await stockOf({ product_type: 'file', stock_amount: null })).toBe('∞');
  });

  test('[spec: Product] for the serials type info is split by stock_delimiter. Default `,`', async () => {
    expect(await stockOf({ info: 'A,B,C,D', stock_delimiter: undefined })).toBe(4);
    expect(await stockOf({ info: 'A--B', stock_delimiter: '--' })).toBe(2);
    expect(await stockOf({ info: null })).toBe(0);
  });

  test('[spec: Product] older variant: stock of the file type is the number if stock_amount is set', async () => {
    const { client } = await openSeller({ variant: 'older' });
    const fields = { product_type: 1, stock_amount: 7 };
    expect((await client.products.create({ ...OLDER_TUNER, ...fields })).stock).toBe(7);
  });

  test.each([
    [1, 'file', '∞'],
    [2, 'serials', 3],
    [3, 'dynamic', '∞'],
    [4, 'service', '∞'],
  ])(
    '[spec: Product] older product_type %i = %s, with a stock of %s',
    async (product_type, _, stock) => {
      const { client } = await openSeller({ variant: 'older' });
      const product = await client.products.create({ ...OLDER_TUNER, product_type });
      expect(product).toMatchObject({ product_type, stock });
    },
  );
});

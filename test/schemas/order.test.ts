import { isPaid, type Order, orderSchema, orderStatusLabel } from 'storefront-webhooks';
import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

const paid = JSON.parse(new TextDecoder().decode(loadFixture('order:paid').body));

const NULLABLE = [
  'product_id',
  'custom',
  'delivered',
  'referral',
  'crypto_address',
  'crypto_value',
  'crypto_channel',
  'coupon_id',
] as const satisfies (keyof Order)[];

describe('an order', () => {
  test('keeps null if the specification allows it, and otherwise leaves out a field that is null', () => {
    const nulled = Object.fromEntries(Object.keys(paid).map((name) => [name, null]));
    const { id, status, email } = paid;
    const reading = orderSchema.read({ ...nulled, id, status, email });
    const nullable: readonly string[] = NULLABLE;
    expect(reading).toEqual({
      value: {
        ...Object.fromEntries(
          Object.keys(paid).map((name) => [name, nullable.includes(name) ? null : undefined]),
        ),
        id,
        status,
        email,
      },
      issues: [],
    });
  });

  test.each(['value', 'usd_value', 'exchange_rate'])(
    'reports an issue if its %s is a number that JSON has rounded',
    (field) => {
      for (const extra of [{}, { quantity: 'many' }]) {
        const text = JSON.stringify({ ...paid, ...extra, [field]: 0 });
        const rounded = JSON.parse(text.replace(`"${field}":0`, `"${field}":9007199254740993`));
        const { issues } = orderSchema.read(rounded);
        expect(issues).toContainEqual({
          path: field,
          message: 'is a number beyond 2^53, which has lost digits',
        });
      }
    },
  );

  test.each(['value', 'usd_value', 'exchange_rate'])('has decimal text for its %s', (field) => {
    expect(orderSchema.read({ ...paid, [field]: 1e-7 })).toMatchObject({
      value: { [field]: '0.0000001' },
      issues: [],
    });
    expect(orderSchema.read({ ...paid, [field]: '10.00' })).toMatchObject({
      value: { [field]: '10.00' },
      issues: [],
    });
    expect(orderSchema.read({ ...paid, [field]: '1,5' })).toMatchObject({
      value: { [field]: undefined },
      issues: [{ path: field, message: 'expected decimal' }],
    });
  });

  test.each(['quantity', 'risk_level', 'crypto_value', 'crypto_received', 'crypto_confirmations'])(
    'has a whole number for its %s',
    (field) => {
      expect(orderSchema.read({ ...paid, [field]: 3 })).toMatchObject({ value: { [field]: 3 } });
      for (const odd of [1.5, '3', true]) {
        expect(orderSchema.read({ ...paid, [field]: odd })).toMatchObject({
          value: { [field]: undefined },
          issues: [{ path: field }],
        });
      }
    },
  );

  test.each([
    '{"size":"L","__proto__":{"status":0},"deep":{"a":[{}]}}',
    '[{"name":"Discord","value":"buyer#1"}]',
    '[]',
    '"buyer#1"',
    '7',
    'false',
    'null',
  ])("keeps the buyer's text unchanged: %s", (text) => {
    const custom = JSON.parse(text);
    const reading = orderSchema.read({ ...paid, custom });
    expect('value' in reading && reading.value.custom).toBe(custom);
    expect(reading.issues).toEqual([]);
  });

  test('has times as ISO 8601 text, even if they arrive as seconds or in an earlier format', () => {
    const times = [
      ['2026-11-20T10:00:05.123456+00:00', '2026-11-20T10:00:05.123456+00:00'],
      ['2017-04-20 03:11:22 UTC', '2017-04-20T03:11:22Z'],
      ['2017-04-20 03:11:22 +0200', '2017-04-20T03:11:22+02:00'],
      [1492657882, '2017-04-20T03:11:22.000Z'],
      [1492657882.5, '2017-04-20T03:11:22.500Z'],
      [1492657882000, '2017-04-20T03:11:22.000Z'],
      ['yesterday', 'yesterday'],
    ];
    for (const [sent, read] of times) {
      expect(orderSchema.read({ ...paid, updated_at: sent })).toMatchObject({
        value: { updated_at: read },
        issues: [],
      });
    }
    expect(orderSchema.read({ ...paid, updated_at: Number.MAX_VALUE })).toMatchObject({
      value: { updated_at: undefined },
      issues: [{ path: 'updated_at', message: 'expected time' }],
    });
  });

  test('may have the gateway name of newer versions', () => {
    const { gateway: _, ...newer } = {
      ...paid,
      payment_gateway: 'stripe',
      payment_request_id: 'pr_1',
    };
    expect(orderSchema.read(newer)).toEqual({ value: newer, issues: [] });
  });

  test('may have an empty email address, but not an empty id', () => {
    expect(orderSchema.read({ ...paid, email: '' })).toHaveProperty('value');
    const reading = orderSchema.read({ ...paid, id: '' });
    expect(reading).not.toHaveProperty('value');
    expect(reading.issues).toMatchObject([{ path: 'id' }]);
  });

  test.each([0, 1, 5, 10, 51, 52, 53, 54, 55, 56, 100, 60, -1, 2 ** 40, '100', 'COMPLETED'])(
    'may have any integer status, such as %j',
    (status) => {
      expect(orderSchema.read({ ...paid, status })).toMatchObject({ value: { status } });
    },
  );

  test.each([100.5, null, true, Number.POSITIVE_INFINITY, 2 ** 60])(
    'rejects the status %j',
    (status) => {
      const reading = orderSchema.read({ ...paid, status });
      expect(reading).toEqual({
        issues: [{ path: 'status', message: 'expected integer or string' }],
      });
    },
  );
});

test.each([
  [0, 'not paid'],
  [51, 'chargeback or reversed'],
  [52, 'high risk'],
  [53, 'partially paid'],
  [54, 'awaiting cryptocurrency confirmations'],
  [55, 'pending'],
  [56, 'refunded'],
  [100, 'completed'],
  [60, 'status 60'],
  [-0, 'not paid'],
  [1, 'expired'],
  [5, 'bad card'],
  [10, 'status 10'],
  ['COMPLETED', 'COMPLETED'],
])('the status %s reads "%s"', (status, label) => {
  expect(orderStatusLabel(status)).toBe(label);
});

test.each([
  [100, undefined, true],
  [0, undefined, false],
  [56, undefined, false],
  [60, undefined, false],
  [54, [100, 54], true],
  [100, [54], false],
  // A status of another type is a different status.
  ['100', undefined, false],
  ['100', [100], false],
  [100, ['100'], false],
  ['paid', ['paid'], true],
])(
  'an order of status %j, with the paid statuses %j, is paid: %j',
  (status, paidStatuses, paid) => {
    expect(isPaid({ status })).toBe(status === 100);
    expect(isPaid({ status }, { paidStatuses })).toBe(paid);
    expect(isPaid({ status }, {})).toBe(status === 100);
  },
);

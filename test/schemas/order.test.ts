import { isPaid, type Order, orderSchema, orderStatusLabel } from 'storefront-webhooks';
import { loadFixture } from 'storefront-webhooks/testing';
import { describe, expect, test } from 'vitest';

const paid = JSON.parse(new TextDecoder().decode(loadFixture('order:paid').body));

const NULLABLE = [
  'delivered',
  'referral',
  'crypto_address',
  'crypto_value',
  'crypto_channel',
  'coupon_id',
] as const satisfies (keyof Order)[];

describe('an order', () => {
  test('has text or null where the specification says so, and only there', () => {
    const nulled = Object.fromEntries(Object.keys(paid).map((name) => [name, null]));
    const { id, status, email } = paid;
    const reading = orderSchema.read({ ...nulled, id, status, email });
    const nullable: readonly string[] = NULLABLE;
    const others = Object.keys(paid).filter((name) => !nullable.includes(name));
    expect(reading).toMatchObject({
      value: Object.fromEntries(NULLABLE.map((name) => [name, null])),
    });
    expect(reading.issues.map(({ path }) => path)).toEqual(
      others.filter((name) => !['id', 'status', 'email'].includes(name)),
    );
  });

  test.each(['value', 'usd_value', 'exchange_rate'])(
    'says so where its %s is a number that JSON has rounded',
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

  test('keeps what the buyer wrote as it came', () => {
    const custom = JSON.parse('{"size":"L","__proto__":{"status":0},"deep":{"a":[{}]}}');
    const reading = orderSchema.read({ ...paid, custom });
    expect('value' in reading && reading.value.custom).toBe(custom);
  });

  test('may have an empty address, but not an empty id', () => {
    expect(orderSchema.read({ ...paid, email: '' })).toHaveProperty('value');
    const reading = orderSchema.read({ ...paid, id: '' });
    expect(reading).not.toHaveProperty('value');
    expect(reading.issues).toMatchObject([{ path: 'id' }]);
  });

  test.each([0, 51, 52, 53, 54, 55, 56, 100, 60, -1, 2 ** 40])(
    'may have the status %i, known or not',
    (status) => {
      expect(orderSchema.read({ ...paid, status })).toMatchObject({ value: { status } });
    },
  );

  test.each(['100', 100.5, null, true, Number.POSITIVE_INFINITY, 2 ** 60])(
    'cannot have the status %j',
    (status) => {
      const reading = orderSchema.read({ ...paid, status });
      expect(reading).toEqual({ issues: [{ path: 'status', message: 'expected integer' }] });
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
  [5, 'status 5'],
])('the status %i reads "%s"', (status, label) => {
  expect(orderStatusLabel(status)).toBe(label);
});

test.each([
  [100, undefined, true],
  [0, undefined, false],
  [56, undefined, false],
  [60, undefined, false],
  [54, [100, 54], true],
  [100, [54], false],
])('an order of status %j is paid, where %j mean paid: %j', (status, paidStatuses, paid) => {
  expect(isPaid({ status })).toBe(status === 100);
  expect(isPaid({ status }, { paidStatuses })).toBe(paid);
  expect(isPaid({ status }, {})).toBe(status === 100);
});

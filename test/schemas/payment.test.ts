import { hostedPaymentSchema, paymentSchema, whiteLabelPaymentSchema } from 'storefront-webhooks';
import { describe, expect, test } from 'vitest';

const hosted = { url: 'https://checkout.example/pay/1' };
const whiteLabel = {
  id: 'ord_1',
  status: 0,
  crypto_address: 'bc1q',
  crypto_value: 33_000,
  confirmations_needed: 1,
  product_id: 'payment',
  email: 'buyer@example.com',
  value: '19.90',
  quantity: 1,
  currency: 'EUR',
  gateway: 'Bitcoin',
  crypto_channel: null,
  usd_value: '21.64',
  exchange_rate: '1.0874',
  created_at: '2026-01-05T09:00:00.000000+00:00',
  updated_at: '2026-01-05T09:00:00.000000+00:00',
  url: 'bitcoin:bc1q',
};

describe('a payment', () => {
  test('of the integrated flow has an address', () => {
    expect(paymentSchema.read(hosted)).toEqual({ value: hosted, issues: [] });
    expect(paymentSchema.read(hosted)).toEqual(hostedPaymentSchema.read(hosted));
  });

  test('of the white-label flow is recognised by its id', () => {
    expect(paymentSchema.read(whiteLabel)).toEqual({ value: whiteLabel, issues: [] });
    const odd = { ...whiteLabel, email: undefined };
    expect(paymentSchema.read(odd)).toEqual(whiteLabelPaymentSchema.read(odd));
    expect(paymentSchema.read(odd)).toEqual({
      issues: [{ path: 'email', message: 'expected string' }],
    });
  });

  test('with an id but no status is an invalid white-label payment', () => {
    const { status: _, ...odd } = whiteLabel;
    expect(paymentSchema.read(odd)).toEqual({
      issues: [{ path: 'status', message: 'expected integer or string' }],
    });
  });

  test('of neither flow is rejected', () => {
    expect(paymentSchema.read({})).toEqual({
      issues: [{ path: 'url', message: 'expected string' }],
    });
  });
});

describe('a white-label payment', () => {
  test('has decimal text for its amounts', () => {
    expect(
      whiteLabelPaymentSchema.read({
        ...whiteLabel,
        value: 19.9,
        usd_value: 2e-7,
        exchange_rate: 1,
      }),
    ).toEqual({
      value: { ...whiteLabel, value: '19.9', usd_value: '0.0000002', exchange_rate: '1' },
      issues: [],
    });
  });

  test.each([0, 54, 100, 60])('may have any integer status, such as %i', (status) => {
    const value = { ...whiteLabel, status };
    expect(whiteLabelPaymentSchema.read(value)).toEqual({ value, issues: [] });
  });

  test.each(['crypto_address', 'crypto_value', 'crypto_channel'])(
    'may have null for its %s',
    (field) => {
      const value = { ...whiteLabel, [field]: null };
      expect(whiteLabelPaymentSchema.read(value)).toEqual({ value, issues: [] });
    },
  );

  test('needs a whole number of confirmations', () => {
    expect(whiteLabelPaymentSchema.read({ ...whiteLabel, confirmations_needed: '1' })).toEqual({
      value: { ...whiteLabel, confirmations_needed: undefined },
      issues: [{ path: 'confirmations_needed', message: 'expected number' }],
    });
  });
});

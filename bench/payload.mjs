/** Returns an order's body of about `bytes` bytes. */
export function orderBody(bytes) {
  const order = {
    id: 'ord_5f2c9a7be1',
    product_id: 'prd_84c1',
    product_title: 'Licence key',
    email: 'buyer@example.com',
    ip_address: '192.0.2.14',
    country_code: 'DE',
    user_agent: '',
    value: '19.90',
    usd_value: '21.64',
    exchange_rate: '1.0874',
    currency: 'EUR',
    gateway: 'PayPal',
    quantity: 1,
    risk_level: 4,
    status: 100,
    delivered: 'AAAA-BBBB-CCCC',
    referral: null,
    crypto_address: null,
    crypto_value: null,
    crypto_received: 0,
    crypto_confirmations: 0,
    crypto_channel: null,
    coupon_id: null,
    custom: { discord: 'somebody' },
    created_at: '2026-11-20T10:00:00.000000+00:00',
    updated_at: '2026-11-20T10:00:05.000000+00:00',
  };
  order.user_agent = 'x'.repeat(bytes - JSON.stringify(order).length);
  return Buffer.from(JSON.stringify(order));
}

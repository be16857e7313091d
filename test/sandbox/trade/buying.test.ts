import { describe, expect, test } from 'vitest';
import { buy } from '../../../src/sandbox/trade/buy.js';
import { confirm, pay } from '../../../src/sandbox/trade/pay.js';
import { chargeBack, expire, refund } from '../../../src/sandbox/trade/reverse.js';
import { stockOf } from '../../../src/sandbox/trade/stock.js';
import { openStall } from './stall.js';

test('[spec: Events] order:created has the Order object as its payload', () => {
  const { market, changes, offer } = openStall();
  const order = buy(market, { product_id: offer().id });
  expect(changes).toEqual([{ event: 'order:created', payload: order.shown, urls: [] }]);
});

describe('quantities', () => {
  test('[spec: Product] minimum_quantity: min order quantity', () => {
    const { market, offer } = openStall();
    const { id } = offer({ minimum_quantity: 2 });
    expect(() => buy(market, { product_id: id, quantity: 1 })).toThrow('at least 2');
    expect(buy(market, { product_id: id }).shown.quantity).toBe(2);
  });

  test('[spec: Product] maximum_quantity: max order quantity', () => {
    const { market, offer } = openStall();
    const { id } = offer({ maximum_quantity: 2 });
    expect(() => buy(market, { product_id: id, quantity: 3 })).toThrow('from 1 to 2');
    expect(buy(market, { product_id: id, quantity: 2 }).shown.quantity).toBe(2);
  });

  test('[spec: Product] maximum_quantity null = as high as stock', () => {
    const { market, offer } = openStall();
    const { id } = offer();
    expect(() => buy(market, { product_id: id, quantity: 4 })).toThrow('There are 3 in stock');
    expect(buy(market, { product_id: id, quantity: 3 }).shown.quantity).toBe(3);
  });

  test('[spec: Product] price: price for 1 quantity', () => {
    const { market, offer } = openStall();
    const { shown } = buy(market, { product_id: offer({ price: '0.10' }).id, quantity: 3 });
    expect(shown.value).toBe('0.30');
  });
});

describe('stock', () => {
  test('[spec: Product] stock_amount: stock limit for the file type', () => {
    const { market, offer } = openStall();
    const { id } = offer({ product_type: 'file', stock_amount: 2 });
    buy(market, { product_id: id });
    expect(market.account.products.get(id)?.stock_amount).toBe(1);
    expect(() => buy(market, { product_id: id, quantity: 2 })).toThrow('There are 1 in stock');
  });

  test('an order takes its goods out of stock at once', () => {
    const { market, offer } = openStall();
    const product = offer();
    buy(market, { product_id: product.id, quantity: 2 });
    const left = market.account.products.get(product.id);
    expect(left?.info).toBe('C');
    expect(left && stockOf(left)).toBe(1);
  });

  test('each serial is delivered once, in whatever order the payments arrive', () => {
    const { market, offer } = openStall();
    const { id } = offer({ info: 'A,B,C,D,E' });
    const orders = [1, 2, 1].map((quantity) => buy(market, { product_id: id, quantity }).id);
    const delivered = orders.toReversed().map((order) => pay(market, order).shown.delivered);
    expect(delivered).toEqual(['D', 'B\nC', 'A']);
    expect(pay(market, buy(market, { product_id: id }).id).shown.delivered).toBe('E');
    expect(() => buy(market, { product_id: id })).toThrow('There are 0 in stock');
  });

  test('[spec: Events] product:out_of_stock is sent when the last item is sold, and not before', () => {
    const { market, heard, offer } = openStall();
    const { id } = offer();
    buy(market, { product_id: id, quantity: 2 });
    expect(heard()).toEqual(['order:created 0']);
    buy(market, { product_id: id });
    expect(heard()).toEqual(['product:out_of_stock', 'order:created 0']);
  });

  test.each([
    ['expires', expire, []],
    ['is refunded before it is completed', refund, [{ pending: true }]],
    ['is charged back before it is completed', chargeBack, [{ pending: true }]],
  ] as const)('reserved stock is available again if the order %s', (_, end, [paying]) => {
    const { market, offer } = openStall();
    const { id } = offer();
    const order = buy(market, { product_id: id, quantity: 2 });
    if (paying) pay(market, order.id, paying);
    end(market, order.id);
    expect(market.account.products.get(id)?.info).toBe('C,A,B');
  });

  test.each([
    ['refunded', refund],
    ['charged back', chargeBack],
  ])('delivered stock does not return, even if the order is %s', (_, end) => {
    const { market, offer } = openStall();
    const { id } = offer();
    const order = buy(market, { product_id: id });
    pay(market, order.id);
    end(market, order.id);
    expect(market.account.products.get(id)?.info).toBe('B,C');
    expect(market.account.orders.get(order.id)?.shown.delivered).toBe('A');
  });

  test('an order of a deleted product returns no stock', () => {
    const { market, offer } = openStall();
    const order = buy(market, { product_id: offer().id });
    market.account.products.delete('prd_1');
    expect(expire(market, order.id).is_closed).toBe(true);
  });
});

describe('a purchase', () => {
  test.each([
    [1, 'thief@example.com', { email: 'Thief@Example.com' }],
    [2, '198.51.100.4', { ip_address: '198.51.100.4' }],
    [3, 'fr', { country_code: 'FR' }],
  ])(
    '[spec: Blacklist entry] blacklist_type %i blocks %s',
    (blacklist_type, blocked_data, customer) => {
      const { market, heard, offer } = openStall();
      const { id } = offer();
      const dates = { created_at: '', updated_at: '' };
      market.account.blacklist.put({
        id: 'bl_1',
        blacklist_type,
        blocked_data,
        note: null,
        ...dates,
      });
      expect(() => buy(market, { product_id: id, ...customer })).toThrow('is on the blacklist');
      expect(heard()).toEqual([]);
      expect(buy(market, { product_id: id }).shown.status).toBe(0);
      market.account.blacklist.delete('bl_1');
      expect(buy(market, { product_id: id, ...customer }).shown.status).toBe(0);
    },
  );

  test('[spec: Product] max_risk_level: highest customer risk level before an order is blocked', () => {
    const { market, heard, offer } = openStall();
    const { id } = offer({ max_risk_level: 40 });
    expect(buy(market, { product_id: id, risk_level: 40 }).shown.status).toBe(0);
    const blocked = buy(market, { product_id: id, risk_level: 41 });
    expect(heard()).toEqual(['order:created 0', 'order:created 52']);
    expect(() => pay(market, blocked.id)).toThrow('cannot be paid');
    expect(market.account.products.get(id)?.info).toBe('B,C');
  });

  test('[spec: Order status] 52 high risk', () => {
    const { market, offer } = openStall();
    const { id } = buy(market, { product_id: offer().id, risk_level: 31 });
    expect(market.account.orders.get(id)?.shown).toMatchObject({ status: 52, risk_level: 31 });
  });

  test('[spec: Product] vpn_block: whether VPNs and proxies are blocked at checkout', () => {
    const { market, offer } = openStall();
    const { id } = offer({ vpn_block: true });
    expect(() => buy(market, { product_id: id, vpn: true })).toThrow('VPN');
    offer({ vpn_block: false });
    expect(buy(market, { product_id: id, vpn: true }).shown.status).toBe(0);
  });

  test('[spec: Product] private, newer variant: neither listed nor accessible', () => {
    const { market, offer } = openStall();
    expect(() => buy(market, { product_id: offer({ private: true }).id })).toThrow(
      'no such product',
    );
  });

  test('[spec: Product] private, older variant: not shown in any listing, and sold', () => {
    const { market, offer } = openStall({ variant: 'older' });
    expect(buy(market, { product_id: offer({ private: true }).id }).shown.status).toBe(0);
  });

  test('[spec: Product] unlisted: still reachable by direct link', () => {
    const { market, offer } = openStall();
    expect(buy(market, { product_id: offer({ unlisted: true }).id }).shown.status).toBe(0);
  });
});

describe('gateways', () => {
  test('[spec: Product] gateways: enabled payment gateways, and no others', () => {
    const { market, offer } = openStall();
    const { id } = offer();
    expect(buy(market, { product_id: id }).shown.gateway).toBe('PayPal');
    expect(buy(market, { product_id: id, gateway: 'Bitcoin' }).shown.gateway).toBe('Bitcoin');
    expect(() => buy(market, { product_id: id, gateway: 'stripe' })).toThrow(
      'There are paypal, bitcoin',
    );
  });

  test('a gateway that the account has not configured is rejected', () => {
    const { market, offer } = openStall();
    market.account.set({ gateways: ['bitcoin'] });
    const { id } = offer();
    expect(buy(market, { product_id: id }).shown.gateway).toBe('Bitcoin');
    expect(() => buy(market, { product_id: id, gateway: 'paypal' })).toThrow('There are bitcoin');
  });
});

test('[spec: Product] crypto_confirmations: confirmations required to consider a crypto transaction complete', () => {
  const { market, offer } = openStall({ variant: 'older' });
  const { id } = offer({ crypto_confirmations: 2 });
  const order = buy(market, { product_id: id, gateway: 'bitcoin' });
  expect(pay(market, order.id).shown.status).toBe(54);
  expect(confirm(market, order.id).shown.status).toBe(54);
  expect(confirm(market, order.id).shown).toMatchObject({ status: 100, crypto_confirmations: 2 });
});

test('an order whose crypto_value JSON cannot hold exactly is refused, and its goods stay in stock', () => {
  const { market, offer } = openStall();
  const { id } = offer({ price: '5000000.00', gateways: ['dogecoin', 'bitcoin'] });
  expect(() => buy(market, { product_id: id, quantity: 3 })).toThrow(
    'The value has to be at most 90071992.54740991 Dogecoin, the largest crypto_value. Choose another gateway, or a lower value.',
  );
  expect(market.account.products.get(id)?.info).toBe('A,B,C');
  expect(buy(market, { product_id: id, quantity: 2 }).shown.crypto_value).toBe(8e15);
  expect(buy(market, { product_id: id, gateway: 'bitcoin' }).shown.crypto_value).toBe(8333333333);
});

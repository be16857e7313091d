import { describe, expect, test } from 'vitest';
import { buy } from '../../../src/sandbox/trade/buy.js';
import { deliver } from '../../../src/sandbox/trade/complete.js';
import { ask, rate, write } from '../../../src/sandbox/trade/customers.js';
import { confirm, pay } from '../../../src/sandbox/trade/pay.js';
import { createPayment } from '../../../src/sandbox/trade/payments.js';
import { chargeBack, expire, refund } from '../../../src/sandbox/trade/reverse.js';
import { openStall } from './stall.js';

const TERMS = {
  title: 'Lesson',
  email: 'buyer@example.com',
  currency: 'USD',
  value: '20',
  gateway: 'bitcoin',
  confirmations: 1,
  white_label: true,
  return_url: null,
  webhook_url: 'https://shop.example/payment',
};

/** Opens a stall with an unpaid order for the given gateway. */
function order(gateway: 'paypal' | 'bitcoin', unknowns = {}) {
  const stall = openStall(unknowns);
  const { id } = buy(stall.market, { product_id: stall.offer().id, gateway });
  stall.heard();
  return { ...stall, id };
}

describe('the status of an order', () => {
  test('[spec: Order status] 0 not paid', () => {
    const { market, id } = order('paypal');
    expect(market.account.orders.get(id)?.shown.status).toBe(0);
  });

  test('[spec: Order status] 53 partially paid, until the rest is paid', () => {
    const { market, id, heard } = order('bitcoin');
    const part = pay(market, id, { value: '2.50' });
    expect(part.shown).toMatchObject({ status: 53, crypto_value: 16666, crypto_received: 4166 });
    const all = pay(market, id);
    expect(all.shown).toMatchObject({ status: 54, crypto_received: 16666 });
    expect(heard()).toEqual(['order:updated 53', 'order:updated 54']);
  });

  test('[spec: Order status] 54 awaiting cryptocurrency confirmations, which come one by one', () => {
    const { market, id, heard } = order('bitcoin');
    pay(market, id);
    confirm(market, id);
    expect(confirm(market, id).shown).toMatchObject({ status: 100, delivered: 'A' });
    expect(heard()).toEqual([
      'order:updated 54',
      'order:updated 54',
      'order:updated 100',
      'order:paid 100',
    ]);
  });

  test('[spec: Order status] 55 pending (wallet payment gateway)', () => {
    const { market, id, heard } = order('paypal');
    expect(pay(market, id, { pending: true }).shown).toMatchObject({ status: 55, delivered: null });
    expect(confirm(market, id).shown).toMatchObject({ status: 100, delivered: 'A' });
    expect(heard()).toEqual(['order:updated 55', 'order:updated 100', 'order:paid 100']);
  });

  test('[spec: Order status] 100 successful and completed', () => {
    const { market, id, heard } = order('paypal');
    expect(pay(market, id).shown).toMatchObject({ status: 100, delivered: 'A' });
    expect(heard()).toEqual(['order:updated 55', 'order:updated 100', 'order:paid 100']);
  });

  test('[spec: Order status] 56 refunded', () => {
    const { market, id, heard } = order('paypal');
    pay(market, id);
    heard();
    expect(refund(market, id).shown.status).toBe(56);
    expect(heard()).toEqual(['order:updated 56']);
  });

  test('[spec: Order status] 51 chargeback or reversed', () => {
    const { market, id, heard } = order('paypal');
    pay(market, id);
    heard();
    expect(chargeBack(market, id).shown.status).toBe(51);
    expect(heard()).toEqual(['order:updated 51']);
  });

  test('an expired order stays not paid, and cannot be paid', () => {
    const { market, id, heard } = order('paypal');
    expect(expire(market, id).shown.status).toBe(0);
    expect(() => pay(market, id)).toThrow('The order is closed, so it cannot be paid.');
    expect(heard()).toEqual(['order:updated 0']);
  });
});

describe('an impossible step throws', () => {
  test.each([
    ['confirmed before it is paid', confirm],
    ['refunded before it is paid', refund],
    ['charged back before it is paid', chargeBack],
  ])('an order cannot be %s', (_, step) => {
    const { market, id, heard } = order('paypal');
    expect(() => step(market, id)).toThrow('The order is not paid');
    expect(heard()).toEqual([]);
  });

  test('an order cannot be paid twice, nor refunded twice, nor expire when it is paid', () => {
    const { market, id } = order('paypal');
    pay(market, id);
    expect(() => pay(market, id)).toThrow('The order is completed');
    expect(() => expire(market, id)).toThrow('The order is completed');
    refund(market, id);
    expect(() => refund(market, id)).toThrow('The order is refunded');
  });

  test.each(['0', '-1'])('a payment of %s is rejected', (value) => {
    const { market, id } = order('paypal');
    expect(() => pay(market, id, { value })).toThrow('above 0');
  });

  test.each(['paypal', 'bitcoin'])('a free product needs a payment of 0, by %s', (gateway) => {
    const { market, offer } = openStall();
    const free = offer({ price: '0.00', crypto_confirmations: 0 });
    const { id } = buy(market, { product_id: free.id, gateway });
    expect(pay(market, id).shown).toMatchObject({ status: 100, crypto_received: 0 });
  });

  test('a partial payment in coins is converted to the satoshi', () => {
    const { market, offer } = openStall();
    const { id } = buy(market, { product_id: offer({ price: '78.00' }).id, gateway: 'bitcoin' });
    const { shown } = pay(market, id, { value: '6' });
    expect(shown).toMatchObject({ crypto_value: 130_000, crypto_received: 10_000 });
  });

  test('an order with an unknown id does not exist', () => {
    const { market } = openStall();
    expect(() => pay(market, 'ord_none')).toThrow('no such order');
  });
});

describe('a payment', () => {
  test('[spec: Payments] crypto confirmations needed, default 1', () => {
    const { market } = openStall();
    const { id } = createPayment(market, { ...TERMS, confirmations: 3 });
    pay(market, id);
    expect(confirm(market, id, 2).shown.status).toBe(54);
    expect(confirm(market, id).shown.status).toBe(100);
  });

  test('with no confirmations needed is completed when it is paid', () => {
    const { market } = openStall();
    const { id } = createPayment(market, { ...TERMS, confirmations: 0 });
    expect(pay(market, id).shown.status).toBe(100);
  });

  test('[spec: Payments] webhook_url receives order status webhooks, one for each status', () => {
    const { market, changes } = openStall();
    const { id } = createPayment(market, TERMS);
    pay(market, id);
    confirm(market, id);
    expect(changes.map(({ event, urls }) => [event, urls])).toEqual([
      ['order:created', []],
      ['order:updated', ['https://shop.example/payment']],
      ['order:updated', ['https://shop.example/payment']],
      ['order:paid', []],
    ]);
  });
});

test("[spec: Product] webhook_url: URL called for every order status update of this product's orders", () => {
  const { market, changes, offer } = openStall({ variant: 'older' });
  const { id } = buy(market, {
    product_id: offer({ webhook_url: 'https://shop.example/tuner' }).id,
  });
  pay(market, id);
  refund(market, id);
  const updates = changes.filter(({ urls }) => urls.includes('https://shop.example/tuner'));
  expect(updates.map(({ payload }) => payload.status)).toEqual([55, 100, 56]);
});

describe('a place that the specification leaves open', () => {
  test('transitions: direct goes from 0 to 100', () => {
    const { market, id, heard } = order('paypal', { transitions: 'direct' });
    pay(market, id);
    expect(heard()).toEqual(['order:updated 100', 'order:paid 100']);
  });

  test('emission: paid-alone sends order:paid once, also to the webhook_url', () => {
    const { market, changes, heard } = openStall({ emission: 'paid-alone', transitions: 'direct' });
    const { id } = createPayment(market, { ...TERMS, gateway: 'paypal' });
    pay(market, id);
    expect(heard()).toEqual(['order:created 0', 'order:paid 100']);
    expect(changes.at(-1)?.urls).toEqual(['https://shop.example/payment']);
  });
});

test('[spec: Product] dynamic_url: URL called to generate goods for the dynamic type', () => {
  const { market, supplied, heard, offer } = openStall();
  const fields = { product_type: 'dynamic', dynamic_url: 'https://shop.example/goods' } as const;
  const { id } = buy(market, { product_id: offer(fields).id });
  expect(supplied).toEqual([]);
  expect(pay(market, id).shown).toMatchObject({ status: 100, delivered: null });
  expect(supplied).toEqual([id]);
  heard();
  expect(deliver(market, id, 'KEY-1').shown.delivered).toBe('KEY-1');
  expect(heard()).toEqual(['order:updated 100']);
  expect(() => deliver(market, id, 'KEY-2')).toThrow('has been delivered');
});

describe('queries and feedback', () => {
  const question = { email: 'buyer@example.com', title: 'Order', message: 'Where is it?' };

  test('[spec: Events] query:created, query:replied and query:updated', () => {
    const { market, changes } = openStall();
    const { id } = ask(market, question);
    write(market, id, { from: 'seller', text: 'On its way.' });
    write(market, id, { from: 'customer', text: 'Thanks.' });
    expect(changes.map(({ event, payload }) => [event, payload.status, payload.message])).toEqual([
      ['query:created', 'open', 'Where is it?'],
      ['query:replied', 'replied', 'On its way.'],
      ['query:updated', 'open', 'Thanks.'],
    ]);
  });

  test('[spec: Events] feedback:created once for an order, and feedback:updated from then on', () => {
    const { market, id, heard } = order('paypal');
    expect(() => rate(market, id, { rating: 5, message: 'Good' })).toThrow('cannot be rated');
    pay(market, id);
    heard();
    rate(market, id, { rating: 5, message: 'Good' });
    const { rating } = rate(market, id, { rating: 4, message: 'Quite good' });
    expect(rating).toBe(4);
    expect(heard()).toEqual(['feedback:created', 'feedback:updated']);
  });

  test('the shapes of query payloads are options', () => {
    const shape = (unknowns: object) => {
      const { market, changes } = openStall(unknowns);
      ask(market, question);
      return Object.keys(changes[0]?.payload ?? {}).sort();
    };
    const common = ['created_at', 'email', 'id', 'status', 'title', 'updated_at'];
    expect(shape({})).toEqual([...common, 'message'].sort());
    expect(shape({ customerRecords: 'thread' })).toEqual([...common, 'messages'].sort());
    expect(shape({ eventPayloads: 'reference' })).toEqual(['id', 'updated_at']);
  });
});

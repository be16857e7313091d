import { describe, expect, test } from 'vitest';
import { openSeller, TUNER } from './seller.js';

async function openOrder(gateway = 'bitcoin') {
  const seller = await openSeller();
  const product = await seller.client.products.create(TUNER);
  const { body } = await seller.send(
    'POST',
    '/sandbox/orders',
    `product_id=${product.id}&gateway=${gateway}`,
  );
  const step = async (name: string, form = '') => {
    const { status, body: order } = await seller.send(
      'POST',
      `/sandbox/orders/${body.id}/${name}`,
      form,
    );
    return [status, order.status, order.errors?.[0]];
  };
  return { ...seller, product, order: body, step };
}

test('an order can be created, paid in part, paid in full, confirmed and refunded', async () => {
  const { step, order } = await openOrder();
  expect(order.status).toBe(0);
  expect(await step('pay', 'value=1.5')).toEqual([200, 53, undefined]);
  expect(await step('pay')).toEqual([200, 54, undefined]);
  expect(await step('confirm')).toEqual([200, 100, undefined]);
  expect(await step('refund')).toEqual([200, 56, undefined]);
});

test('a wallet payment can be pending and then charged back', async () => {
  const { step } = await openOrder('paypal');
  expect(await step('pay', 'pending=true')).toEqual([200, 55, undefined]);
  expect(await step('confirm', 'confirmations=2')).toEqual([200, 100, undefined]);
  expect(await step('charge-back')).toEqual([200, 51, undefined]);
});

test('an order can expire, and an impossible step returns 400', async () => {
  const { step } = await openOrder();
  expect(await step('refund')).toEqual([
    400,
    undefined,
    expect.stringContaining('The order is not paid, so it cannot be refunded.'),
  ]);
  expect(await step('pay', 'value=some')).toEqual([
    400,
    undefined,
    'value has to be a decimal number',
  ]);
  expect(await step('confirm', 'confirmations=0')).toEqual([
    400,
    undefined,
    expect.stringMatching(/at least 1/),
  ]);
  expect(await step('expire')).toEqual([200, 0, undefined]);
  expect(await step('pay')).toEqual([400, undefined, expect.stringContaining('closed')]);
});

test('a query can be asked and answered, and an order can be rated', async () => {
  const { send, step, order } = await openOrder('paypal');
  const asked = await send(
    'POST',
    '/sandbox/queries',
    'email=a%40b.example&title=Hello&message=How%3F',
  );
  expect(asked).toMatchObject({ status: 201, body: { status: 'open', message: 'How?' } });
  const messages = `/sandbox/queries/${asked.body.id}/messages`;
  expect(await send('POST', messages, 'from=seller&text=So.')).toMatchObject({
    status: 200,
    body: { status: 'replied', message: 'So.' },
  });
  expect((await send('POST', messages, 'from=nobody&text=So.')).status).toBe(400);
  expect(
    (await send('POST', '/sandbox/queries/none/messages', 'from=seller&text=So.')).status,
  ).toBe(404);
  await step('pay');
  const rated = await send('POST', `/sandbox/orders/${order.id}/feedback`, 'rating=5&message=Good');
  expect(rated).toMatchObject({ status: 200, body: { rating: 5, order_id: order.id } });
});

test('a customer who may not buy gets 400, and a missing record returns 404', async () => {
  const { send, product } = await openOrder();
  const many = await send('POST', '/sandbox/orders', `product_id=${product.id}&quantity=9`);
  expect(many).toMatchObject({
    status: 400,
    body: { errors: ['There are 2 in stock, and 9 were ordered.'] },
  });
  expect((await send('POST', '/sandbox/orders', 'product_id=none')).status).toBe(404);
  const wrong = await send('POST', '/sandbox/orders', 'quantity=0&country_code=France');
  expect(wrong.body.errors).toEqual([
    'product_id is required',
    'quantity has to be at least 1',
    'country_code has to be of ISO 3166-1',
  ]);
});

test('the account object offers the same operations to a program', async () => {
  const { account, product } = await openOrder();
  const order = await account.buy({ product_id: product.id, gateway: 'paypal' });
  await expect(account.refund(order.id)).rejects.toMatchObject({
    name: 'Refusal',
    code: 'state_invalid',
  });
  expect(await account.pay(order.id, { pending: true })).toMatchObject({ status: 55 });
  expect(await account.confirm(order.id)).toMatchObject({ status: 100 });
  expect(await account.rate(order.id, { rating: 3, message: '' })).toMatchObject({
    id: expect.any(String),
  });
  expect(await account.chargeBack(order.id)).toMatchObject({ status: 51 });
  const { id } = await account.ask({ email: 'a@b.example', title: 'T', message: 'M' });
  await account.write(id, { from: 'seller', text: 'R' });
  const late = await account.buy({ product_id: product.id });
  expect(await account.expire(late.id)).toMatchObject({ status: 0 });
});

describe('the account object rejects what the operations over HTTP reject', () => {
  const json = { 'content-type': 'application/json' };

  test.each([
    [{ webhook_secret: '' }, 'webhook_secret must not be empty'],
    [{ webhook_secret: '\u200b' }, 'webhook_secret has to be a text to sign with'],
    [{ webhook_secret: 'undefined' }, 'webhook_secret has to be a text to sign with'],
    [{ gateways: ['Bitcoin'] }, 'gateways[0] has to be one of paypal, '],
    [{ read_only: 'no', webhookSecret: 'new' }, 'read_only has to be true or false'],
  ])('settings: %j', async (settings, error) => {
    const { account, send } = await openSeller();
    const before = account.settings;
    const { status, body } = await send('PUT', '/sandbox/settings', JSON.stringify(settings), json);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(error)]);
    const refusal = { name: 'Refusal', code: 'parameter_invalid', message: body.errors.join('; ') };
    const given: object = settings;
    expect(() => account.set(given)).toThrow(expect.objectContaining(refusal));
    expect(account.settings).toEqual(before);
  });

  test.each([
    [{ quantity: 1.5 }, 'quantity has to be a whole number'],
    [{ quantity: 0 }, 'quantity has to be at least 1'],
    [{ country_code: 'France', risk_level: 101 }, 'country_code has to be of ISO 3166-1'],
    [{ quantty: 2 }, 'there is no quantty. Did you mean "quantity"?'],
  ])('a purchase: %j', async (changes, error) => {
    const { account, send, client, product } = await openOrder();
    const purchase = { product_id: product.id, ...changes };
    const { status, body } = await send('POST', '/sandbox/orders', JSON.stringify(purchase), json);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(error)]);
    const refusal = { name: 'Refusal', code: 'parameter_invalid', message: body.errors.join('; ') };
    await expect(account.buy(purchase)).rejects.toMatchObject(refusal);
    expect((await client.orders.list()).items).toHaveLength(1);
  });

  test('a number that JSON does not have', async () => {
    const { account, product } = await openOrder();
    await expect(account.buy({ product_id: product.id, quantity: NaN })).rejects.toMatchObject({
      name: 'Refusal',
      code: 'parameter_invalid',
    });
  });

  test('payments, confirmations, feedback and messages', async () => {
    const { account, order } = await openOrder();
    const refusal = { name: 'Refusal', code: 'parameter_invalid' };
    const written: object = { from: 'nobody', text: '' };
    const calls = [
      () => account.pay(order.id, { value: 'some' }),
      () => account.confirm(order.id, -1),
      () => account.rate(order.id, { rating: 9, message: '' }),
      () => account.ask({ email: '', title: 'T', message: 'M' }),
      () => account.write('qry_1', { from: 'seller', text: '', ...written }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(refusal);
  });

  test('and takes a setting that is undefined as not given', async () => {
    const { account } = await openSeller();
    const before = account.settings;
    account.set({ webhook_secret: undefined, gateways: [] } as object);
    expect(account.settings).toEqual({ ...before, gateways: [] });
  });
});

test('the sandbox operations require a key', async () => {
  const { send } = await openSeller();
  expect((await send('GET', '/sandbox/clock', undefined, { authorization: '' })).status).toBe(401);
});

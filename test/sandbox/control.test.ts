import { expect, test } from 'vitest';
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

test('the sandbox operations require a key', async () => {
  const { send } = await openSeller();
  expect((await send('GET', '/sandbox/clock', undefined, { authorization: '' })).status).toBe(401);
});

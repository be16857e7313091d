import { describe, expect, test } from 'vitest';
import { openSeller, PAYMENT } from '../seller.js';

const PATH = '/api/v2/pay';
const FORM = 'title=Lesson&email=buyer%40example.com&currency=EUR&value=12.50&gateway=bitcoin';
const HOSTED = `${FORM}&return_url=https%3A%2F%2Fshop.example%2Fthanks`;
const WHITE_LABEL = `${FORM}&white_label=true`;

describe('the integrated flow', () => {
  test('[spec: Payment result] an object with a single field url, the hosted checkout address', async () => {
    const { client, send } = await openSeller();
    const { status, body } = await send('POST', PATH, HOSTED);
    expect(status).toBe(201);
    expect(body).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost\/shop\/alpha\/checkout\/\w+$/),
    });
    const made = await client.payments.create({
      ...PAYMENT,
      return_url: 'https://shop.example/thanks',
    });
    expect(Object.keys(made)).toEqual(['url']);
  });

  test.each(['title', 'email', 'currency', 'value', 'gateway'])(
    '[spec: Payments] %s is required',
    async (name) => {
      const { send } = await openSeller();
      const form = HOSTED.split('&')
        .filter((field) => !field.startsWith(`${name}=`))
        .join('&');
      const { status, body } = await send('POST', PATH, form);
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: [`${name} is required`],
      });
    },
  );

  test('[spec: Payments] return_url is required only when white_label is false', async () => {
    const { send } = await openSeller();
    for (const form of [FORM, `${FORM}&white_label=false`]) {
      const { status, body } = await send('POST', PATH, form);
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: ['return_url is required'],
      });
    }
    expect((await send('POST', PATH, `${FORM}&white_label=true`)).status).toBe(201);
  });
});

test.each(['nonsense', 'javascript:alert(1)', 'data:text/html,x', 'https://a;script-src', ''])(
  '[spec: Payments] return_url: where the customer is redirected, so %j is rejected',
  async (return_url) => {
    const { send } = await openSeller();
    const form = new URLSearchParams(`${FORM}&${new URLSearchParams({ return_url })}`);
    expect(await send('POST', PATH, `${form}`)).toMatchObject({
      status: 400,
      body: { errors: ['return_url has to be a URL that begins with https:// or http://'] },
    });
  },
);

test.each([
  ['1', 'true'],
  ['0', 'false'],
])('white_label=%s means %s, like any other boolean', async (given, meant) => {
  const { send } = await openSeller();
  const rest = `${FORM}&return_url=https%3A%2F%2Fme.example`;
  const fieldsOf = async (value: string) =>
    Object.keys((await send('POST', PATH, `${rest}&white_label=${value}`)).body);
  expect(await fieldsOf(given)).toEqual(await fieldsOf(meant));
});

describe('the white-label flow', () => {
  test.each([
    ['id', expect.any(String)],
    ['status', 0],
    ['crypto_address', expect.stringMatching(/^sandbox-bitcoin-/)],
    ['crypto_value', 22916],
    ['confirmations_needed', 1],
    ['product_id', 'payment'],
    ['email', 'buyer@example.com'],
    ['value', '12.50'],
    ['quantity', 1],
    ['currency', 'EUR'],
    ['gateway', 'Bitcoin'],
    ['crypto_channel', null],
    ['usd_value', '13.75'],
    ['exchange_rate', '1.10'],
    ['created_at', expect.stringMatching(/\+00:00$/)],
    ['updated_at', expect.stringMatching(/\+00:00$/)],
    ['url', expect.stringMatching(/^bitcoin:sandbox-bitcoin-\w+\?amount=0\.00022916$/)],
  ])(
    '[spec: Payment result] white-label flow: an order-shaped object with the field %s',
    async (field, value) => {
      const { send } = await openSeller();
      const { status, body } = await send('POST', PATH, WHITE_LABEL);
      expect(status).toBe(201);
      expect(body[field]).toEqual(value);
    },
  );

  test('[spec: Payment result] white-label flow: no other fields', async () => {
    const { send } = await openSeller();
    const { body } = await send('POST', PATH, WHITE_LABEL);
    expect(Object.keys(body)).toHaveLength(17);
  });

  test('[spec: Payment result] in this flow product_id is a fixed marker for payments', async () => {
    const { client } = await openSeller();
    const [one, other] = await Promise.all([
      client.payments.create({ ...PAYMENT, white_label: true }),
      client.payments.create({ ...PAYMENT, title: 'Other', white_label: true }),
    ]);
    expect(one.product_id).toBe(other.product_id);
  });

  test('[spec: Payments] ip_address: customer IP, used when white_label is true', async () => {
    const { client } = await openSeller();
    const { id } = await client.payments.create({
      ...PAYMENT,
      white_label: true,
      ip_address: '198.51.100.4',
    });
    expect((await client.orders.get(id)).ip_address).toBe('198.51.100.4');
    await client.payments.create({ ...PAYMENT, return_url: 'https://me.example' });
    const [latest] = (await client.orders.list()).items;
    expect(latest?.ip_address).not.toBe('198.51.100.4');
  });
});

test.each([0, 3, 6])(
  '[spec: Payments] crypto confirmations needed may be %i',
  async (confirmations) => {
    const { client } = await openSeller();
    const payment = await client.payments.create({ ...PAYMENT, confirmations, white_label: true });
    expect(payment.confirmations_needed).toBe(confirmations);
  },
);

test.each(['-1', '7', 'two'])(
  '[spec: Limits] payment confirmations: 0 to 6, so %s is rejected',
  async (confirmations) => {
    const { send } = await openSeller();
    const { status, body } = await send(
      'POST',
      PATH,
      `${WHITE_LABEL}&confirmations=${confirmations}`,
    );
    expect(status).toBe(400);
    expect(body.errors).toEqual([expect.stringMatching(/^confirmations has to be /)]);
  },
);

test('[spec: Payments] the name of the parameter is not shown: crypto_confirmations may be it', async () => {
  const { send } = await openSeller({ unknowns: { confirmationsName: 'crypto_confirmations' } });
  const form = `${WHITE_LABEL}&confirmations=5&crypto_confirmations=3`;
  expect((await send('POST', PATH, form)).body.confirmations_needed).toBe(3);
  expect(
    (await send('POST', PATH, `${WHITE_LABEL}&confirmations=5`)).body.confirmations_needed,
  ).toBe(1);
});

test('[spec: Payments] the gateway must have its account information configured in the payment settings', async () => {
  const { account, client } = await openSeller({ gateways: ['paypal'] });
  const pay = () => client.payments.create({ ...PAYMENT, white_label: true });
  await expect(pay()).rejects.toMatchObject({
    status: 400,
    errors: [expect.stringMatching(/^gateway has to be configured.*paypal/)],
  });
  account.set({ gateways: ['bitcoin'] });
  await expect(pay()).resolves.toMatchObject({ gateway: 'Bitcoin' });
});

test('[spec: Payments] DELETE /api/v2/pay/:id returns 204', async () => {
  const { client, send } = await openSeller();
  const { id } = await client.payments.create({ ...PAYMENT, white_label: true });
  expect(await send('DELETE', `${PATH}/${id}`)).toMatchObject({ status: 204, body: undefined });
  await expect(client.payments.delete(id)).rejects.toMatchObject({ status: 404 });
});

test('the currency of a payment is upper case, like that of a product', async () => {
  const { client } = await openSeller();
  const payment = { ...PAYMENT, currency: 'eur', white_label: true } as const;
  const { id, currency } = await client.payments.create(payment);
  expect([currency, (await client.orders.get(id)).currency]).toEqual(['EUR', 'EUR']);
});

test('a deleted payment keeps its order and cannot be paid', async () => {
  const { account, client } = await openSeller();
  const { id } = await client.payments.create({ ...PAYMENT, white_label: true });
  await client.payments.delete(id);
  await expect(account.pay(id)).rejects.toMatchObject({ code: 'state_invalid' });
  expect(await client.orders.get(id)).toMatchObject({ status: 0 });
});

test('[spec: Events] the creation of a payment produces an order', async () => {
  const { client } = await openSeller();
  const { id } = await client.payments.create({ ...PAYMENT, white_label: true });
  expect(await client.orders.get(id)).toMatchObject({ product_title: 'Lesson', status: 0 });
});

test('a payment of 0, or of a blocked customer, is rejected', async () => {
  const { client, send } = await openSeller();
  expect((await send('POST', PATH, HOSTED.replace('12.50', '0'))).body.errors).toEqual([
    'value has to be at least 0.01',
  ]);
  await client.blacklist.create({ blacklist_type: 1, blocked_data: 'Buyer@example.com' });
  await expect(client.payments.create({ ...PAYMENT, white_label: true })).rejects.toMatchObject({
    errors: ["The customer's email is on the blacklist."],
  });
});

test.each([
  [2, '203.0.113.7'],
  [3, 'US'],
])(
  'an entry of type %i for %s, a default of the sandbox, does not block a payment',
  async (blacklist_type, blocked_data) => {
    const { client } = await openSeller();
    await client.blacklist.create({ blacklist_type, blocked_data });
    await client.payments.create({ ...PAYMENT, return_url: 'https://me.example' });
    await client.payments.create({ ...PAYMENT, white_label: true });
    expect((await client.orders.list()).items).toHaveLength(2);
  },
);

test('a payment whose crypto_value JSON cannot hold exactly is rejected', async () => {
  const { client } = await openSeller();
  const terms = { ...PAYMENT, value: '99999999', gateway: 'dogecoin' };
  const errors = [expect.stringContaining('at most 90071992.54740991 Dogecoin')];
  await expect(client.payments.create({ ...terms, white_label: true })).rejects.toMatchObject({
    status: 400,
    errors,
  });
  await expect(
    client.payments.create({ ...terms, return_url: 'https://me.example' }),
  ).rejects.toMatchObject({ status: 400, errors });
  expect((await client.orders.list()).items).toEqual([]);
});

test('a payment with a blocked ip_address is rejected', async () => {
  const { client } = await openSeller();
  await client.blacklist.create({ blacklist_type: 2, blocked_data: '198.51.100.4' });
  const payment = { ...PAYMENT, white_label: true, ip_address: '198.51.100.4' } as const;
  await expect(client.payments.create(payment)).rejects.toMatchObject({
    errors: ["The customer's IP address is on the blacklist."],
  });
});

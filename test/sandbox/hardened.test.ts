import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSeller, PAYMENT, PRODUCT_FORM, TUNER } from './seller.js';
import { startListener } from './webhooks/listener.js';

async function listening() {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.close());
  const { port, url, close } = await sandbox.listen();
  const speak = async (text: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  return { sandbox, url, close, speak };
}

describe('a list in a form', () => {
  test.each([
    ['a name that comes again', 'gateways=paypal&gateways=stripe', ['paypal', 'stripe']],
    ['a name that comes once', 'gateways=paypal', ['paypal']],
    ['name[index]', 'gateways[0]=paypal&gateways[1]=stripe', ['paypal', 'stripe']],
    ['name[]', 'gateways[]=paypal&gateways[]=stripe', ['paypal', 'stripe']],
  ])('may be %s', async (_, form, gateways) => {
    const { send } = await openSeller();
    const rest = PRODUCT_FORM.replace(/&gateways.*/, '');
    expect(await send('POST', '/api/v2/products', `${rest}&${form}`)).toMatchObject({
      status: 201,
      body: { gateways },
    });
  });
});

describe('amounts', () => {
  test.each(['1e999', '1000000001', 'NaN', '-1'])('of %s are no price', async (price) => {
    const { send } = await openSeller();
    const form = PRODUCT_FORM.replace('9.90', price);
    expect((await send('POST', '/api/v2/products', form)).status).toBe(400);
  });

  test.each([Number.POSITIVE_INFINITY, '1e30', 'some', Number.NaN])(
    'of %s are paid by nobody',
    async (value) => {
      const { account, client } = await openSeller();
      const { id } = await client.products.create(TUNER);
      const order = await account.buy({ product_id: id });
      await expect(account.pay(order.id, { value })).rejects.toMatchObject({
        code: 'parameter_invalid',
      });
    },
  );

  test('of less than a cent are no payment', async () => {
    const { client } = await openSeller();
    const terms = { ...PAYMENT, value: '0.001', white_label: true } as const;
    await expect(client.payments.create(terms)).rejects.toMatchObject({ status: 400 });
  });
});

describe('a product', () => {
  test.each([
    ['title=', 'title must not be empty'],
    ['minimum_quantity=0', 'minimum_quantity has to be at least 1'],
    ['minimum_quantity=1.5', 'minimum_quantity has to be a whole number'],
    [
      'minimum_quantity=5&maximum_quantity=2',
      'maximum_quantity has to be at least minimum_quantity',
    ],
    ['stock_amount=-1', 'stock_amount has to be at least 0'],
    ['currency=ZZZ', 'currency has to be an ISO 4217 code'],
    ['dynamic_url=ftp://shop.example', 'dynamic_url has to be a URL'],
    ['gateways[2]=paypal', 'gateways must not name one twice'],
  ])('of %s is refused', async (fields, error) => {
    const { send, client } = await openSeller();
    const changed = fields.split('=')[0] ?? '';
    const form = PRODUCT_FORM.replace(new RegExp(`(^|&)${changed}=[^&]*`), '');
    const { status, body } = await send('POST', '/api/v2/products', `${form}&${fields}`);
    expect([status, body.errors]).toEqual([400, [expect.stringContaining(error)]]);
    const { id } = await client.products.create(TUNER);
    const update = fields.startsWith('gateways') ? `gateways[0]=paypal&gateways[1]=paypal` : fields;
    expect((await send('PUT', `/api/v2/products/${id}`, update)).status).toBe(400);
  });

  test('that is deleted leaves its category with another date', async () => {
    const { client } = await openSeller();
    const { id } = await client.products.create(TUNER);
    const before = await client.categories.create({ title: 'Tuners', product_ids: [id] });
    await client.products.delete(id);
    const after = await client.categories.get(before.id);
    expect([after.product_ids, after.updated_at]).not.toEqual([[id], before.updated_at]);
    expect(after.updated_at).not.toBe(before.updated_at);
  });
});

describe('the blacklist', () => {
  test.each([
    [2, '198.51.100.9', { ip_address: '::ffff:198.51.100.9' }],
    [2, '2001:DB8::1', { ip_address: '2001:db8:0:0:0:0:0:1' }],
    [2, '::ffff:198.51.100.9', { ip_address: '198.51.100.9' }],
    [1, 'bad@example.com', { email: ' Bad@Example.com ' }],
    [3, 'us', { country_code: 'US' }],
  ])(
    'of type %d with %s is not got round by %j',
    async (blacklist_type, blocked_data, customer) => {
      const { client, account } = await openSeller();
      const { id } = await client.products.create(TUNER);
      await client.blacklist.create({ blacklist_type, blocked_data });
      await expect(account.buy({ product_id: id, ...customer })).rejects.toMatchObject({
        code: 'blacklisted',
      });
    },
  );

  test('has a note that can be taken away', async () => {
    const { client } = await openSeller();
    const entry = { blacklist_type: 1, blocked_data: 'bad@example.com', note: 'why' } as const;
    const { id } = await client.blacklist.create(entry);
    expect((await client.blacklist.update(id, { note: null })).note).toBeNull();
  });
});

describe('webhooks', () => {
  test('are not held up by one that hangs', async () => {
    const { client, account } = await openSeller();
    const listener = await startListener();
    listener.answer((_, number) => (number === 1 ? 'hang' : 200));
    const url = `${listener.origin}/in`;
    await client.webhookEndpoints.create({ url, events: ['order:created'] });
    const { id } = await client.products.create({ ...TUNER, product_type: 'service' });
    for (let count = 0; count < 5; count++) await account.buy({ product_id: id });
    await expect.poll(() => listener.came.length, { timeout: 5_000 }).toBe(5);
    await listener.close();
  });

  test('to a dozen URLs are no leak', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const { client, account } = await openSeller();
    const listener = await startListener();
    for (let count = 0; count < 12; count++) {
      const url = `${listener.origin}/${count}`;
      await client.webhookEndpoints.create({ url, events: ['order:created'] });
    }
    const { id } = await client.products.create(TUNER);
    await account.buy({ product_id: id });
    await account.idle();
    await sleep(0);
    expect([listener.came.length, warnings]).toEqual([12, []]);
    await listener.close();
  });

  test.each([
    'http://name@127.0.0.1:3000/in',
    'https://a:b@shop.example/in',
    ' https://shop.example/in',
  ])('have no URL such as %j', async (url) => {
    const { send } = await openSeller();
    const form = new URLSearchParams({ url, 'events[0]': 'order:paid' });
    expect((await send('POST', '/api/v2/webhooks/endpoints', `${form}`)).status).toBe(400);
  });
});

describe('a sandbox that is asked oddly', () => {
  test('says which field it does not know', async () => {
    const { send } = await openSeller();
    const { status, body } = await send('POST', '/sandbox/orders', 'product=1');
    expect([status, body.errors]).toEqual([
      400,
      expect.arrayContaining([expect.stringContaining('Did you mean "product_id"?')]),
    ]);
  });

  test.each([
    ['what is no HTTP', 'HELLO\r\n\r\n', 400],
    ['a request without a host', 'GET /api/v2/orders HTTP/1.1\r\nConnection: close\r\n\r\n', 403],
    [
      'an odd expectation',
      'GET /api/v2/orders HTTP/1.1\r\nHost: localhost\r\nExpect: foo\r\nConnection: close\r\n\r\n',
      401,
    ],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      400,
    ],
  ])('answers %s with a message', async (_, request, status) => {
    const { speak } = await listening();
    const socket = await speak(request);
    let answer = '';
    for await (const piece of socket) answer += piece;
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(`HTTP/1.1 ${status}`);
    expect(JSON.parse(body)).toMatchObject({ message: expect.any(String) });
  });

  test('ends though a client never comes to the end of its request', async () => {
    const { sandbox, speak } = await listening();
    const head =
      'POST /api/v2/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk_test_a';
    await speak(`${head}\r\nContent-Length: 100\r\n\r\nti`);
    await sleep(50);
    const startedAt = performance.now();
    await sandbox.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test('is gone once it was closed', async () => {
    const { sandbox, send } = await openSeller();
    await sandbox.close();
    expect((await send('GET', '/api/v2/orders')).status).toBe(503);
    await expect(sandbox.listen()).rejects.toMatchObject({ code: 'option_invalid' });
  });

  test('says which ports there are', async () => {
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    await expect(sandbox.listen({ port: 70_000 })).rejects.toThrow('65535');
  });
});

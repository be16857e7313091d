import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ended } from '../support/patience.js';
import { openSeller, PAYMENT, PRODUCT_FORM, sell, TUNER } from './seller.js';
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
    ['a repeated name', 'gateways=paypal&gateways=stripe', ['paypal', 'stripe']],
    ['a single name', 'gateways=paypal', ['paypal']],
    ['name[index]', 'gateways[0]=paypal&gateways[1]=stripe', ['paypal', 'stripe']],
    ['name[]', 'gateways[]=paypal&gateways[]=stripe', ['paypal', 'stripe']],
    ['an index above the others', 'gateways[7]=paypal&gateways[2]=stripe', ['stripe', 'paypal']],
  ])('may be %s', async (_, form, gateways) => {
    const { send } = await openSeller();
    const rest = PRODUCT_FORM.replace(/&gateways.*/, '');
    expect(await send('POST', '/api/v2/products', `${rest}&${form}`)).toMatchObject({
      status: 201,
      body: { gateways },
    });
  });
});

describe('values that are nested deeply', () => {
  const json = { 'content-type': 'application/json' };
  test.each([
    ['{"a":', '}', 99],
    ['{"a":[', ']}', 98],
  ])(
    '100 levels of %j are the most in JSON, so that no list of orders fails',
    async (open, end, most) => {
      const { client, send } = await openSeller();
      const { id } = await client.products.create(TUNER);
      const order = (levels: number) => {
        const times = levels / open.replace(/[^{[]/g, '').length;
        const custom = `${open.repeat(times)}1${end.repeat(times)}`;
        return send('POST', '/sandbox/orders', `{"product_id":"${id}","custom":${custom}}`, json);
      };
      // The body is a level, too.
      expect((await order(most)).status).toBe(201);
      for (const levels of [100, 20_000, 150_000]) {
        expect(await order(levels)).toMatchObject({
          status: 400,
          body: { errors: ['the body may be nested at most 100 levels deep'] },
        });
      }
      expect((await send('GET', '/api/v2/orders')).body).toHaveLength(1);
    },
  );
});

describe('requests that could take long', () => {
  const many = (one: (index: number) => string, count = 5_000) =>
    Array.from({ length: count }, (_, index) => one(index)).join('&');

  /**
   * Returns the processor time of the fastest of three runs, in milliseconds: other processes use the processor, too.
   */
  async function costOf(work: () => Promise<unknown>): Promise<number> {
    const costs: number[] = [];
    for (let time = 0; time < 3; time++) {
      const before = process.cpuUsage();
      await work();
      costs.push(process.cpuUsage(before).user / 1_000);
    }
    return Math.min(...costs);
  }

  test.each([
    ['name[index]', many((index) => `gateways[${index}]=bitcoin`)],
    ['name[index] in descending order', many((index) => `gateways[${4_999 - index}]=bitcoin`)],
    ['name[] mixed with repeated names', many((at) => (at % 2 ? 'gateways[]=a' : 'gateways=a'))],
    ['an index inside an index', many((index) => `custom[0][a][b][${index}]=x`)],
    ['20,000 × name[index]', many((index) => `gateways[${index}]=bitcoin`, 20_000)],
    ['20,000 × name[]', many(() => 'gateways[]=bitcoin', 20_000)],
    ['a name that is repeated 250,000 times', many(() => 'a=1', 250_000)],
  ])('a form with %s is read in less than 0.3 s of processor time', async (_, form) => {
    const { send } = await openSeller();
    const cost = await costOf(async () => {
      expect((await send('POST', '/api/v2/products', form)).status).toBe(400);
    });
    expect(cost).toBeLessThan(300);
  });

  test('a list of thousands of entries is sorted by its indices', async () => {
    const { send } = await openSeller();
    const names = ['paypal', 'bitcoin', 'stripe'];
    const form = many((at) => `gateways[${4_999 - at}]=${names[at % 3]}`);
    const { body } = await send('PUT', '/sandbox/settings', form);
    expect(body.gateways).toEqual(
      Array.from({ length: 5_000 }, (_, index) => names[(4_999 - index) % 3]),
    );
  });

  test.each([5_001, 262_000])('a JSON list of %d entries is rejected', async (length) => {
    const { send } = await openSeller();
    const json = JSON.stringify({ custom: Array(length).fill({}) });
    const headers = { 'content-type': 'application/json' };
    expect(await send('POST', '/api/v2/products', json, headers)).toMatchObject({
      status: 400,
      body: { errors: ['a list may have at most 5000 entries'] },
    });
  });

  test('a fault that affects 100,000 calls is planned in less than a second of processor time', async () => {
    const { send } = await openSeller();
    const fault = 'operation=orders.get&status=503&times=100000';
    const cost = await costOf(async () => {
      expect((await send('POST', '/sandbox/faults', fault)).status).toBe(201);
    });
    expect(cost).toBeLessThan(1_000);
  });
});

describe('a time beyond the last valid date', () => {
  test.each([Number.MAX_SAFE_INTEGER, 8.64e15])(
    'is rejected, and %d ms change nothing',
    async (ms) => {
      const { send, account } = await openSeller();
      expect((await send('POST', '/sandbox/clock', `ms=${ms}`)).status).toBe(400);
      await expect(account.clock.advance(ms)).rejects.toMatchObject({ code: 'parameter_invalid' });
      expect((await send('GET', '/sandbox/clock')).status).toBe(200);
      expect((await send('POST', '/api/v2/products', PRODUCT_FORM)).status).toBe(201);
    },
  );

  test('cannot be reached by simultaneous requests to advance', async () => {
    const { send } = await openSeller();
    const ms = Date.UTC(8900, 0) - Date.now();
    const moves = Array.from({ length: 50 }, () => send('POST', '/sandbox/clock', `ms=${ms}`));
    const statuses = (await Promise.all(moves)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(49).fill(400)]);
    expect((await send('GET', '/sandbox/clock')).body.now).toMatch(/^8\d{3}-/);
  });

  test('is never reached by a fast clock, even if its next timer is later', async () => {
    const { client, account } = await openSeller({ clock: 'fast' });
    const listener = await startListener();
    onTestFinished(() => listener.close());
    await client.webhookEndpoints.create({ url: listener.url, events: ['query:created'] });
    account.faults.add({
      ...{ operation: 'webhooks.send', effect: 'late' },
      ms: Number.MAX_SAFE_INTEGER,
    });
    for (const title of ['late', 'in time']) {
      await account.ask({ email: 'a@example.com', title, message: 'Hello?' });
      await account.idle();
      // The clock jumps in a later turn of the event loop.
      await sleep(0);
    }
    await expect.poll(() => listener.came.map(({ json }) => json.title)).toEqual(['in time']);
    expect(account.clock.now()).toBeLessThan(Date.UTC(9000, 0));
    await client.products.create(TUNER);
  });
});

test('a sandbox that would advance past the last valid date keeps its time, for new accounts as well', async () => {
  const { sandbox } = await openSeller();
  for (const ms of [Number.MAX_SAFE_INTEGER, 8.64e15, Number.NaN, -1e20]) {
    await expect(sandbox.clock.advance(ms)).rejects.toMatchObject({ code: 'parameter_invalid' });
  }
  const { send } = await sell(sandbox, 'newer', 'sk_test_later');
  expect((await send('POST', '/api/v2/products', PRODUCT_FORM)).status).toBe(201);
});

describe('amounts', () => {
  test.each(['1e999', '1000000001', 'NaN', '-1'])('a price of %s is rejected', async (price) => {
    const { send } = await openSeller();
    const form = PRODUCT_FORM.replace('9.90', price);
    expect((await send('POST', '/api/v2/products', form)).status).toBe(400);
  });

  test.each([
    Number.POSITIVE_INFINITY,
    '1e30',
    'some',
    Number.NaN,
    '1e0',
    '',
    '9.91',
    '1.005',
    '1.000000001',
    1.1 * 3,
    1e-7,
  ])('a payment of %s is rejected', async (value) => {
    const { account, client } = await openSeller();
    const { id } = await client.products.create(TUNER);
    const order = await account.buy({ product_id: id });
    await expect(account.pay(order.id, { value })).rejects.toMatchObject({
      code: 'parameter_invalid',
    });
  });

  test.each([
    ['price=1.005&currency=EUR', 'price has to have at most 2 decimals, as EUR has'],
    ['price=1.5&currency=jpy', 'price has to have at most 0 decimals, as jpy has'],
    ['price=1.005&currency=KWD', undefined],
    ['price=999.50&currency=HUF', undefined],
    ['price=1.250&currency=IQD', undefined],
    ['price=1.0001&currency=CLF', undefined],
    ['price=1.10&currency=VED', undefined],
    ['price=1.00001&currency=UYW', 'price has to have at most 4 decimals, as UYW has'],
    ['price=0.300000000000000000&currency=EUR', undefined],
    [
      'price=0.30000000000000004&currency=EUR',
      'price has to have at most 2 decimals, as EUR has. Arithmetic with floats adds decimals: round its result',
    ],
    [
      'price=0.000000004&currency=USD',
      'price has to have at most 2 decimals, as USD has. Arithmetic with floats adds decimals: round its result',
    ],
  ])('a price has the decimals of its currency: %s', async (fields, error) => {
    const { send } = await openSeller();
    const form = PRODUCT_FORM.replace('price=9.90&currency=EUR', fields);
    const { status, body } = await send('POST', '/api/v2/products', form);
    expect([status, body.errors]).toEqual(error ? [400, [error]] : [201, undefined]);
    const { body: made } = await send('POST', '/api/v2/products', PRODUCT_FORM);
    const change = await send('PUT', `/api/v2/products/${made.id}`, fields);
    expect([change.status, change.body.errors]).toEqual(error ? [400, [error]] : [200, undefined]);
  });

  test('a price has to fit the decimals of a new currency', async () => {
    const { send } = await openSeller();
    const { body } = await send('POST', '/api/v2/products', PRODUCT_FORM);
    const change = await send('PUT', `/api/v2/products/${body.id}`, 'currency=JPY');
    expect(change.body.errors).toEqual(['price has to have at most 0 decimals, as JPY has']);
    const terms = { ...PAYMENT, value: '1.005', white_label: true };
    const json = { 'content-type': 'application/json' };
    const payment = await send('POST', '/api/v2/pay', JSON.stringify(terms), json);
    expect(payment.body.errors).toEqual(['value has to have at most 2 decimals, as EUR has']);
  });

  test('a price without a currency has the decimals of the default currency', async () => {
    const { send } = await openSeller({ unknowns: { newerProducts: 'lenient' } });
    const { body } = await send('POST', '/api/v2/products', 'title=Tuner&price=0.000000004');
    expect(body.errors).toEqual([expect.stringContaining('at most 2 decimals, as USD has')]);
  });

  test('a payment of less than a cent is rejected', async () => {
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
    ['gateways[2]=paypal', 'gateways must not contain duplicates'],
    ['redirect_url=javascript:alert(1)', 'redirect_url has to be a URL'],
  ])('with %s is rejected', async (fields, error) => {
    const { send, client } = await openSeller();
    const changed = fields.split('=')[0] ?? '';
    const form = PRODUCT_FORM.replace(new RegExp(`(^|&)${changed}=[^&]*`), '');
    const { status, body } = await send('POST', '/api/v2/products', `${form}&${fields}`);
    expect([status, body.errors]).toEqual([400, [expect.stringContaining(error)]]);
    const { id } = await client.products.create(TUNER);
    const update = fields.startsWith('gateways') ? `gateways[0]=paypal&gateways[1]=paypal` : fields;
    expect((await send('PUT', `/api/v2/products/${id}`, update)).status).toBe(400);
  });

  test('that is deleted changes the updated_at of its category', async () => {
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
  ])('of type %d with %s also blocks %j', async (blacklist_type, blocked_data, customer) => {
    const { client, account } = await openSeller();
    const { id } = await client.products.create(TUNER);
    await client.blacklist.create({ blacklist_type, blocked_data });
    await expect(account.buy({ product_id: id, ...customer })).rejects.toMatchObject({
      code: 'blacklisted',
    });
  });

  test('has a note that can be removed', async () => {
    const { client } = await openSeller();
    const entry = { blacklist_type: 1, blocked_data: 'bad@example.com', note: 'why' } as const;
    const { id } = await client.blacklist.create(entry);
    expect((await client.blacklist.update(id, { note: null })).note).toBeNull();
  });
});

describe('webhooks', () => {
  test('are delivered while another webhook hangs', async () => {
    const { client, account } = await openSeller();
    const listener = await startListener();
    listener.answer((_, number) => (number === 1 ? 'hang' : 200));
    const url = `${listener.origin}/in`;
    await client.webhookEndpoints.create({ url, events: ['order:created'] });
    const { id } = await client.products.create({ ...TUNER, product_type: 'service' });
    for (let count = 0; count < 5; count++) await account.buy({ product_id: id });
    await expect.poll(() => listener.came.length).toBe(5);
    await listener.close();
  });

  test('to a dozen URLs cause no leak warning', async () => {
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
  ])('reject the URL %j', async (url) => {
    const { send } = await openSeller();
    const form = new URLSearchParams({ url, 'events[0]': 'order:paid' });
    expect((await send('POST', '/api/v2/webhooks/endpoints', `${form}`)).status).toBe(400);
  });
});

describe('a sandbox that gets an unusual request', () => {
  test('names the unknown field', async () => {
    const { send } = await openSeller();
    const { status, body } = await send('POST', '/sandbox/orders', 'product=1');
    expect([status, body.errors]).toEqual([
      400,
      expect.arrayContaining([expect.stringContaining('Did you mean "product_id"?')]),
    ]);
  });

  test.each([
    ['text that is not HTTP', 'HELLO\r\n\r\n', 400],
    ['a request without a host', 'GET /api/v2/orders HTTP/1.1\r\nConnection: close\r\n\r\n', 403],
    [
      'an unknown expectation',
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

  test('closes even if a client never finishes its request', async () => {
    const { sandbox, speak } = await listening();
    const head =
      'POST /api/v2/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk_test_a';
    await speak(`${head}\r\nContent-Length: 100\r\n\r\nti`);
    await sleep(50);
    // Node would wait five minutes for the rest of the request.
    await ended(sandbox.close(), 'the close of the sandbox');
  });

  test('answers 503 after it was closed', async () => {
    const { sandbox, send } = await openSeller();
    await sandbox.close();
    expect((await send('GET', '/api/v2/orders')).status).toBe(503);
    await expect(sandbox.listen()).rejects.toMatchObject({ code: 'option_invalid' });
  });

  test('rejects an invalid port or argument with advice', async () => {
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    await expect(sandbox.listen({ port: 70_000 })).rejects.toThrow('65535');
    // @ts-expect-error A mistake that a JavaScript program can make.
    await expect(sandbox.listen(4010)).rejects.toThrow('Write sandbox.listen({ port: 4010 }).');
    // @ts-expect-error The same.
    await expect(sandbox.listen({ prot: 4010 })).rejects.toThrow('Did you mean "port"?');
  });
});

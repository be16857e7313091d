import { execFile, spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const isMissing = spawnSync('curl', ['--version']).status !== 0 && !process.env.CI;
const run = promisify(execFile);
const sandbox = createSandbox();
let url = '';
beforeAll(async () => {
  ({ url } = await sandbox.listen());
});
afterAll(() => sandbox.close());

async function curl(...parameters: string[]) {
  const auth = ['-H', 'Authorization: Bearer sk_test_curl'];
  const { stdout } = await run('curl', ['-sS', '-w', '\n%{http_code}', ...auth, ...parameters]);
  const at = stdout.lastIndexOf('\n');
  const body = stdout.slice(0, at);
  return { status: Number(stdout.slice(at)), body: body === '' ? undefined : JSON.parse(body) };
}

describe.skipIf(isMissing)('curl (apt-get install curl)', () => {
  test('[spec: Rules for all endpoints] request examples send form-encoded fields; arrays as name[index]', async () => {
    const { status, body } = await curl(
      `${url}/api/v2/products`,
      ...[
        '--data',
        'title=Tuner',
        '--data',
        'description=Pocket',
        '--data',
        'product_type=serials',
      ],
      ...[
        '--data',
        'stock_delimiter=;',
        '--data-urlencode',
        'info=A;B & C',
        '--data',
        'price=9.90',
      ],
      ...[
        '--data',
        'currency=EUR',
        '--data',
        'gateways[0]=paypal',
        '--data',
        'gateways[1]=bitcoin',
      ],
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ info: 'A;B & C', stock: 2, gateways: ['paypal', 'bitcoin'] });
  });

  test('an array may have a hundred items in any order', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `Field ${at}`);
    const fields = names.map((name, at) =>
      [
        `custom[${at}][type]=text`,
        `custom[${at}][name]=${name}`,
        `custom[${at}][required]=true`,
      ].join('&'),
    );
    const data = [
      'title=All&description=All&product_type=service&price=1&currency=EUR&gateways[]=paypal',
      ...fields.toReversed(),
    ].join('&');
    const { status, body } = await curl(`${url}/api/v2/products`, '--data', data);
    expect(status).toBe(201);
    expect(body.custom.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  test('JSON is accepted as well', async () => {
    const json = JSON.stringify({ title: 'All', product_ids: [], unlisted: true });
    const { status, body } = await curl(
      `${url}/api/v2/categories`,
      ...['-H', 'Content-Type: application/json', '--data', json],
    );
    expect({ status, body }).toMatchObject({ status: 201, body: { unlisted: true } });
  });

  test('[spec: Authentication] basic: email and API key', async () => {
    const { stdout } = await run('curl', [
      '-sS',
      '-u',
      'me@example.com:sk_test_curl',
      `${url}/api/v2/categories`,
    ]);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
  });

  test('a customer can buy', async () => {
    const products = await curl(`${url}/api/v2/products`);
    const { id } = products.body[0];
    const order = await curl(
      `${url}/sandbox/orders`,
      '--data',
      `product_id=${id}&custom[name]=Ada`,
    );
    expect(order).toMatchObject({ status: 201, body: { status: 0, custom: { name: 'Ada' } } });
    const paid = await curl('-X', 'POST', `${url}/sandbox/orders/${order.body.id}/pay`);
    expect(paid).toMatchObject({ status: 200, body: { status: 100 } });
  });

  test.each([
    ['text/plain', 'title', 'the body has to be application/x-www-form-urlencoded, or JSON'],
    ['application/json', '{', 'the body has to be an object in JSON'],
    ['application/json', '[]', 'the body has to be an object in JSON'],
  ])('a body of %s that is %s gets a 400', async (type, data, error) => {
    const { status, body } = await curl(
      `${url}/api/v2/categories`,
      ...['-H', `Content-Type: ${type}`, '--data', data],
    );
    expect({ status, errors: body.errors }).toEqual({ status: 400, errors: [error] });
  });

  test('a body over a mebibyte gets a 400', async () => {
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const authorization = 'Bearer sk_test_curl';
      const type = 'application/x-www-form-urlencoded';
      const sent = request(`${url}/api/v2/categories`, {
        method: 'POST',
        headers: { authorization, 'content-type': type, ...headers },
      });
      sent.end(`title=${'x'.repeat(1_048_576)}`);
      const answered = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
        sent.on('response', resolve).on('error', reject),
      );
      expect([answered.statusCode, await text(answered)]).toEqual([
        400,
        expect.stringContaining('the body has to be at most 1048576 bytes'),
      ]);
    }
  });
});

import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checking } from '../../../sandbox/document.js';

const run = promisify(execFile);
const missing = spawnSync('curl', ['--version']).status !== 0 && !process.env.CI;
const BEARER = ['-H', 'Authorization: Bearer sk_test_curl'];
const BASIC = ['-u', 'seller@example.com:sk_test_curl'];

/** A form as in the specification's examples. */
const data = (...fields: readonly string[]) => fields.flatMap((field) => ['--data', field]);
const json = (value: object) => [
  ...['-H', 'Content-Type: application/json'],
  ...['--data', JSON.stringify(value)],
];

const RESOURCES = [
  {
    path: '/api/v2/products',
    group: 'products',
    created: [
      ...data('title=Pocket tuner', 'description=Tunes', 'product_type=serials', 'price=9.90'),
      ...data('currency=EUR', 'stock_delimiter=;', 'gateways[0]=bitcoin', 'gateways[1]=paypal'),
      ...['--data-urlencode', 'info=A&B;C+D;Ü='],
    ],
    has: { title: 'Pocket tuner', info: 'A&B;C+D;Ü=', stock: 3, gateways: ['bitcoin', 'paypal'] },
    changed: data('minimum_quantity=2', 'unlisted=true'),
    becomes: { minimum_quantity: 2, unlisted: true },
    wrong: data('price=free'),
  },
  {
    path: '/api/v2/categories',
    group: 'categories',
    created: data('title=Tuners', 'product_ids[]='),
    has: { title: 'Tuners', product_ids: [], unlisted: false },
    changed: json({ title: 'Strings', unlisted: true }),
    becomes: { title: 'Strings', unlisted: true },
    wrong: json({ title: 7, product_ids: 'prd_1' }),
  },
  {
    path: '/api/v2/blacklist',
    group: 'blacklist',
    created: [...data('blacklist_type=1'), '--data-urlencode', 'blocked_data=a+b@example.com'],
    has: { blacklist_type: 1, blocked_data: 'a+b@example.com', note: null },
    changed: ['--data-urlencode', 'note=Took it back & more'],
    becomes: { note: 'Took it back & more' },
    wrong: data('blacklist_type=9', 'blocked_data=US'),
  },
  {
    path: '/api/v2/webhooks/endpoints',
    group: 'webhookEndpoints',
    created: json({ url: 'https://shop.example/in', events: ['order:paid'] }),
    has: { url: 'https://shop.example/in', events: ['order:paid'], enabled: true },
    changed: data('events[0]=order:paid', 'events[1]=query:created'),
    becomes: { events: ['order:paid', 'query:created'] },
    wrong: data('url=http://shop.example/in', 'events[0]=order:paid'),
  },
] as const;

describe.skipIf(missing)('curl (apt-get install curl)', () => {
  const sandbox = createSandbox();
  const calls = new WeakMap<Request, readonly string[]>();
  let url = '';
  let ask: (request: Request) => Promise<Response>;
  beforeAll(async () => {
    ({ url } = await sandbox.listen());
    ({ raw: ask } = await checking(async (request) => {
      const args = calls.get(request);
      return args ? answerOf(args) : sandbox.fetch(request);
    }));
  });
  afterAll(() => sandbox.close());

  async function answerOf(args: readonly string[]): Promise<Response> {
    const { stdout } = await run('curl', ['-sS', '--include', ...args]);
    const [head = '', ...rest] = stdout.split('\r\n\r\n');
    const [line = '', ...headers] = head.split('\r\n');
    const body = rest.join('\r\n\r\n');
    return new Response(body === '' ? null : body, {
      status: Number(line.split(' ')[1]),
      headers: headers.map((header): [string, string] => {
        const [name = '', ...value] = header.split(': ');
        return [name, value.join(': ')];
      }),
    });
  }

  /** Its responses are checked against the document as well. */
  async function curl(method: string, path: string, args: readonly string[], auth = BEARER) {
    const request = new Request(url + path, { method });
    calls.set(request, ['-X', method, ...auth, '--globoff', url + path, ...args]);
    const response = await ask(request);
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  const client = () => createClient({ baseUrl: url, auth: { accessToken: 'sk_test_curl' } });

  test.each(RESOURCES)(
    'creates, lists, reads, changes and deletes at $path what the client reads',
    async ({ path, group, created, has, changed, becomes, wrong }) => {
      const made = await curl('POST', path, created);
      expect(made).toMatchObject({ status: 201, body: has });
      const one = `${path}/${made.body.id}`;
      expect(await client()[group].get(made.body.id)).toEqual(made.body);
      expect(await curl('GET', one, [], BASIC)).toEqual({ status: 200, body: made.body });
      expect(await curl('GET', `${path}?per_page=10`, [])).toEqual({
        status: 200,
        body: (await client()[group].list({ perPage: 10 })).items,
      });
      const updated = await curl('PUT', one, changed, BASIC);
      expect(updated).toMatchObject({ status: 200, body: { ...has, ...becomes } });
      expect(await client()[group].get(made.body.id)).toEqual(updated.body);
      expect(await curl('POST', path, wrong)).toMatchObject({
        status: 400,
        body: { errors: expect.arrayContaining([expect.any(String)]) },
      });
      expect(await curl('DELETE', one, [])).toEqual({ status: 204, body: undefined });
      await expect(client()[group].get(made.body.id)).rejects.toMatchObject({ status: 404 });
      expect((await curl('DELETE', one, [])).status).toBe(404);
    },
  );

  test('creates and deletes payments of both flows, and reads their orders', async () => {
    const payment = data('title=Lesson', 'email=a@example.com', 'currency=EUR', 'value=12.50');
    const hosted = [...payment, ...data('gateway=paypal', 'return_url=https://shop.example/ok')];
    expect(await curl('POST', '/api/v2/pay', hosted)).toEqual({
      status: 201,
      body: { url: expect.stringContaining(`${url}/shop/curl/checkout/`) },
    });
    const whiteLabel = [...payment, ...data('gateway=bitcoin', 'white_label=true')];
    const { status, body } = await curl('POST', '/api/v2/pay', whiteLabel, BASIC);
    expect([status, body.confirmations_needed]).toEqual([201, 1]);
    const order = await curl('GET', `/api/v2/orders/${body.id}`, []);
    expect(order.body).toEqual(await client().orders.get(body.id));
    expect((await curl('GET', '/api/v2/orders', [])).body).toHaveLength(2);
    expect((await curl('DELETE', `/api/v2/pay/${body.id}`, [])).status).toBe(204);
  });

  test.each(RESOURCES)(
    '$path is not returned as XML, nor without credentials',
    async ({ path }) => {
      expect((await curl('GET', path, ['-H', 'Accept: text/xml'])).status).toBe(406);
      expect((await curl('GET', path, [], [])).status).toBe(401);
      expect((await curl('GET', path, [], ['-u', 'seller@example.com:nothing'])).status).toBe(401);
    },
  );

  test('HEAD gets the response of GET without the body', async () => {
    const args = ['-sS', '--head', '-w', '%{http_code}', ...BEARER, `${url}/api/v2/orders`];
    const { stdout } = await run('curl', args);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(stdout).toMatch(/x-total-pages: 1\r\n/i);
    expect(stdout).toMatch(/\r\n\r\n200$/);
  });
});

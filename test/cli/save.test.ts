import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadFixture } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run as runCommand } from './command.js';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  mkdirSync(join(project, 'src'));
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  write(
    'vitest.config.ts',
    `export default { cacheDir: '.cache', resolve: { alias: [
      { find: 'storefront-webhooks/testing', replacement: ${JSON.stringify(resolve('src/testing/index.ts'))} },
      { find: 'storefront-webhooks', replacement: ${JSON.stringify(resolve('src/index.ts'))} },
    ] } };`,
  );
  write('src/webhooks.ts', receiver("throw new Error('no stock left');"));
});
afterEach(() => rmSync(project, { recursive: true }));

function write(file: string, text: string | Uint8Array) {
  writeFileSync(join(project, file), text);
}

const receiver = (body: string) => `import { createReceiver } from 'storefront-webhooks';
export const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET });
receiver.on('order:paid', async () => {
  ${body}
});
`;

const run = (...args: string[]) => runCommand(args, { cwd: project });

const body =
  '{"id":"ord_1","email":"jane@shop.test","value":10.0,"status":100,"delivered":"KEY-1","ip_address":"203.0.113.9"}';
const files = () => readdirSync(join(project, 'test/webhooks')).sort();

// test/full/cli/ runs the saved tests.
describe('storefront-webhooks save', () => {
  test('writes a test and its fixture, without customer data', async () => {
    write('body.json', body);
    const { status, stdout, stderr } = await run('save', 'body.json', '--event', 'order:paid');
    expect([status, stderr]).toEqual([0, '']);
    const told = JSON.parse(stdout);
    expect(told.test).toBe('test/webhooks/0001-order-paid.test.ts');
    expect(told.next).toBe('npx vitest run test/webhooks/0001-order-paid.test.ts');
    const fixture = loadFixture(join(project, told.fixture));
    expect(Buffer.from(fixture.body).toString()).toContain('"value":10.0');
    expect(readFileSync(join(project, told.fixture), 'utf8')).not.toMatch(/jane|KEY-1|203\.0/);
    expect(readFileSync(join(project, told.test), 'utf8')).toContain('replay(receiver,');
  });

  test('writes a module that shows invisible characters of an event as escapes', async () => {
    write('body.json', body);
    const event = 'a\u202e\u2066b\u200b\u009b\u{e0041}';
    const { test: file } = JSON.parse((await run('save', 'body.json', '--event', event)).stdout);
    const source = readFileSync(join(project, file), 'utf8');
    expect(source).toMatch(/^[\n -~]+$/);
    expect(source).toContain('a\\u202e\\u2066b\\u200b\\u009b\\udb40\\udc41');
  });

  test('accepts a webhook log of the provider, and never overwrites a file', async () => {
    const log = `{"id":"whl_9","url":"https://x.test/hook","event":"order:paid","payload":${body},"response":"no","response_code":500,"retries":3}`;
    write('log.json', log);
    for (let n = 0; n < 2; n++) expect((await run('save', 'log.json')).status).toBe(0);
    expect(files()).toEqual(
      ['0001', '0002'].flatMap((n) => [`${n}-order-paid.hook.json`, `${n}-order-paid.test.ts`]),
    );
    const {
      headers,
      body: bytes,
      expect: expected,
    } = loadFixture(join(project, 'test/webhooks/0001-order-paid.hook.json'));
    expect(headers).toContainEqual(['X-Service-Webhook', 'whl_9']);
    expect(Buffer.from(bytes).toString()).toBe(
      body
        .replace('jane@shop.test', 'buyer@example.com')
        .replace('KEY-1', 'redacted')
        .replace('203.0.113.9', '192.0.2.1'),
    );
    expect(expected).toEqual({ status: 200, outcome: 'handled' });
  });

  test.each([
    ['https://shop.test/webhooks/keys', "loadFixture(file), { path: '/webhooks/keys' });"],
    ['https://shop.test/in?shop=eu&x=1', "loadFixture(file), { path: '/in?shop=eu&x=1' });"],
    ["https://shop.test/a'b", `loadFixture(file), { path: "/a'b" });`],
    ['https://shop.test/webhooks', 'loadFixture(file));'],
    ['no address', 'loadFixture(file));'],
    [null, 'loadFixture(file));'],
  ])('writes a test that sends to the path of the log: %s', async (url, call) => {
    const log = { id: 'whl_9', url, event: 'order:paid', payload: {}, response_code: 500 };
    write('log.json', JSON.stringify(log));
    const { test: file } = JSON.parse((await run('save', 'log.json')).stdout);
    expect(readFileSync(join(project, file), 'utf8')).toContain(call);
  });

  test.each([
    'key',
    'auth',
    'access_key',
    'accessKey',
    'password',
    'pass',
    'sig',
    'signature',
    'X-Amz-Signature',
    'code',
    'key1',
    'keys',
    'key[]',
    'passphrase',
    'oauth',
  ])('replaces the credential in the query of the log: %s', async (name) => {
    const url = `https://shop.test/in?keyboard=qwerty&author=ann&monkey=1&${name}=s3cr3t&pass_on=1&design=2`;
    const log = { id: 'whl_9', url, event: 'order:paid', payload: {}, response_code: 500 };
    write('log.json', JSON.stringify(log));
    const { redacted, test: file } = JSON.parse((await run('save', 'log.json')).stdout);
    expect(redacted).toEqual([`?${name}`]);
    expect(readFileSync(join(project, file), 'utf8')).toContain(
      new URL(url.replace('s3cr3t', 'redacted')).search,
    );
  });

  test('replaces a secret in the query of the log, unless --as-is is given', async () => {
    const url =
      'https://shop.test/in?shop=eu&token=s3cr3t&e%6Dail=jane%40x.test&by=jane@x.test&API_KEY=k';
    const log = { id: 'whl_9', url, event: 'order:paid', payload: {}, response_code: 500 };
    write('log.json', JSON.stringify(log));
    const clean = JSON.parse((await run('save', 'log.json')).stdout);
    expect(clean.redacted).toEqual(['?token', '?email', '?by', '?API_KEY']);
    expect(readFileSync(join(project, clean.test), 'utf8')).toContain(
      "{ path: '/in?shop=eu&token=redacted&e%6Dail=buyer%40example.com&by=redacted&API_KEY=redacted' }",
    );
    // A fixture holds no address.
    expect(loadFixture(join(project, clean.fixture)).redacted).toEqual([]);
    const kept = JSON.parse((await run('save', 'log.json', '--as-is')).stdout);
    expect(kept.redacted).toEqual([]);
    expect(readFileSync(join(project, kept.test), 'utf8')).toContain(url.slice(17));
  });

  /** Returns the written test for a module with this source, and the warnings. */
  async function saveFor(source: string) {
    write('body.json', body);
    write('shop.js', source);
    const args = ['body.json', '--event', 'order:paid', '--receiver', 'shop.js'];
    const { stdout, stderr } = await run('save', ...args);
    const { test: file } = JSON.parse(stdout);
    expect(file).toBe('test/webhooks/0001-order-paid.test.js');
    return { text: readFileSync(join(project, file), 'utf8'), stderr };
  }

  test.each([
    ['export const receiver = createReceiver({});', 'receiver', 'receiver'],
    [
      "export const RECEIVER_PATH = '/in';\nexport const receiver = await makeReceiver();",
      'receiver',
      'receiver',
    ],
    [
      'const receiver: Receiver = await makeReceiver();\nexport { app, receiver };',
      'receiver',
      'receiver',
    ],
    ['export default createReceiver({});', 'default: receiver', 'receiver'],
    [
      "export const receiverPath = '/in';\nexport default createReceiver({});",
      'default: receiver',
      'receiver',
    ],
    [
      'export function receiverUrl() {}\nexport default createReceiver({});',
      'default: receiver',
      'receiver',
    ],
    [
      'export function receiverFor(secret: string) { return createReceiver({ secret }); }\nexport default createReceiver({});',
      'receiverFor',
      'await receiverFor(secret)',
    ],
    [
      'export const receiverFor = (\n  secret: string,\n) =>\n  createReceiver({ secret });\n\nexport default createReceiver({});',
      'receiverFor',
      'await receiverFor(secret)',
    ],
    [
      "export const receiverUrl = () => '/in';\n\n// As createReceiver() says.\nconst shop = createReceiver({});\nexport default shop;",
      'default: receiver',
      'receiver',
    ],
    [
      "export function receiverUrl() {\n  return '/in';\n}\nconst shop = createReceiver({});\nexport default shop;",
      'default: receiver',
      'receiver',
    ],
    [
      'export function receiverRoutes(app) {\n  const receiver = createReceiver({});\n  app.use(receiver);\n}\n\nexport default createReceiver({});',
      'default: receiver',
      'receiver',
    ],
    [
      'export function receiverOptions() {\n  // for createReceiver()\n  return {};\n}\n\nexport default createReceiver({});',
      'default: receiver',
      'receiver',
    ],
    [
      'export function receiverOptions(secret) {\n  return { secret };\n}\n\nexport default function makeShop(secret) {\n  const receiver = createReceiver(receiverOptions(secret));\n  receiver.onPaid(deliver);\n  return receiver;\n}\n',
      'default: makeReceiver',
      'await makeReceiver(secret)',
    ],
    [
      "export function receiverPath() {\n  return '/in';\n}\n\nexport default (secret) => {\n  const shop = createReceiver({ secret });\n  return shop\n    .onPaid(deliver);\n};\n",
      'default: makeReceiver',
      'await makeReceiver(secret)',
    ],
    [
      "export function receiverPath() {\n  return '/in';\n}\n\nexport function receiverFor(secret: string) {\n  let receiver: Receiver = createReceiver<Events>({ secret });\n  return receiver;\n}\n",
      'receiverFor',
      'await receiverFor(secret)',
    ],
    [
      "export function receiverPath() {\n  return '/in';\n}\n\nexport const receiverFor = (secret) =>\n  storefront.createReceiver({ secret });\n",
      'receiverFor',
      'await receiverFor(secret)',
    ],
    [
      "export function receiverPath() {\n  return '/in';\n}\n\nexport default storefront.createReceiver({});\n",
      'default: receiver',
      'receiver',
    ],
    [
      'export function receiverRoutes(app) {\n  const receiver = createReceiver({});\n  app.get("/", () => {\n    return receiver.handler;\n  });\n}\n\nexport default createReceiver({});',
      'default: receiver',
      'receiver',
    ],
    ['const shop = createReceiver({});\nexport default shop;\n', 'default: receiver', 'receiver'],
    [
      'export { makeReceiver };\nfunction makeReceiver() {}',
      'makeReceiver',
      'await makeReceiver(secret)',
    ],
    ['export async function makeReceiver() {}', 'makeReceiver', 'await makeReceiver(secret)'],
    [
      'const makeReceiver = (a) => {};\nexport { makeReceiver };',
      'makeReceiver',
      'await makeReceiver(secret)',
    ],
    [
      'export const makeReceiver: (a: string) => Receiver = (a) => {};',
      'makeReceiver',
      'await makeReceiver(secret)',
    ],
    [
      'export const makeReceiver = async (a: string): Promise<Receiver> => {};',
      'makeReceiver',
      'await makeReceiver(secret)',
    ],
    [
      'export default function makeReceiver() {}',
      'default: makeReceiver',
      'await makeReceiver(secret)',
    ],
  ])(
    'finds a receiver, or a function that makes one, exported by %s',
    async (source, imported, used) => {
      const { text } = await saveFor(source);
      expect(text).toContain(`const { ${imported} } = await import(`);
      expect(text).toContain(`replay(${used},`);
    },
  );

  test.each([
    ['export const { receiver, database } = open();', 'receiver'],
    ['const app = 1;\nexport { app, made as receiver };', 'receiver'],
    ["export const RECEIVER_PATH = '/in';\nexport { receiver };", 'receiver'],
    ['export const makeReceiver = once((a) => {});', 'makeReceiver'],
    ['export const receiver = (isTest ? one : other)(1);', 'receiver'],
    ['export const receiverOptions = {};\nexport default openShop();', 'default'],
    ['export const receiverFor = once((a) => {});\nexport default app;', 'receiverFor'],
    // A promise, if the function is async.
    ['export const receiver = makeReceiver(1);', 'receiver'],
    ['export const receiver = openShop();', 'receiver'],
    ["import { one } from './one.js';\nexport default one;", 'default'],
  ])(
    'lets the test find out whether it has to call what is exported by %s',
    async (source, name) => {
      const { text } = await saveFor(source);
      expect(text).toContain(`const { ${name}: exported } = await import(`);
      expect(text).toContain(
        'const receiver = await (exported instanceof Function ? exported(secret) : exported);',
      );
      expect(text).toContain('replay(receiver,');
    },
  );

  test.each(['{ secret, store: sqliteStore(db) }', '{ store, secret }', '{ secret, store }'])(
    "warns that a test runs on the shop's own store, if it cannot be given another: %s",
    async (options) => {
      const made = `createReceiver(${options})`;
      const { stderr } = await saveFor(`export const receiver = ${made};`);
      expect(stderr).toContain('uses the store that shop.js opens');
      rmSync(join(project, 'test'), { recursive: true });
      const { stderr: ofFunction } = await saveFor(`export default () => ${made};`);
      expect(ofFunction).toBe('');
    },
  );

  test('signs the body again, and drops the signature that a recording keeps', async () => {
    const kept = {
      v: 1,
      event: 'order:paid',
      method: 'POST',
      signing: 'keep',
      headers: [
        ['X-Service-Event', 'order:paid'],
        ['X-Service-Webhook', 'whl_1'],
        ['Cookie', 'a=1'],
        ['X-Service-Signature', 'ab12'],
      ],
      body: { text: body },
    };
    write('kept.hook.json', JSON.stringify(kept));
    for (const flags of [[], ['--as-is']]) {
      const { fixture } = JSON.parse((await run('save', 'kept.hook.json', ...flags)).stdout);
      const { signing, headers } = loadFixture(join(project, fixture));
      expect(signing).toBe('resign');
      expect(headers).toEqual([
        ...kept.headers.slice(0, 2),
        ['Cookie', flags.length === 0 ? 'redacted' : 'a=1'],
        ['X-Service-Signature', ''],
      ]);
    }
  });

  test('removes the signature of a recording, whatever its header prefix', async () => {
    const kept = {
      v: 1,
      event: 'order:paid',
      signing: 'keep',
      headers: [
        ['X-Brand-Event', 'order:paid'],
        ['X-Brand-Signature', 'ab12'],
      ],
      body: { text: body },
    };
    write('brand.hook.json', JSON.stringify(kept));
    const { fixture } = JSON.parse((await run('save', 'brand.hook.json')).stdout);
    expect(loadFixture(join(project, fixture)).headers).toEqual([
      ['X-Brand-Event', 'order:paid'],
      ['X-Brand-Signature', ''],
    ]);
  });

  test('writes a fixture that only this user can read with --as-is', async () => {
    write('body.json', body);
    const flags = ['--event', 'order:paid', '--as-is'];
    const { stdout } = await run('save', 'body.json', ...flags);
    const file = join(project, JSON.parse(stdout).fixture);
    expect(readFileSync(file, 'utf8')).toContain('KEY-1');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([
    [['nothing.json'], 'no event, fixture or file nothing.json'],
    [['body.json', '--event', 'order:paid', '--receiver', 'src/none.ts'], 'with --receiver'],
    [['body.json', '--event', 'order:paid', '--receiver', 'package.json'], 'exports no receiver'],
    [['form.txt', '--event', 'order:paid'], '--as-is'],
    [['body.json'], '--event'],
  ])('writes nothing if an argument is missing, and names the argument: %j', async (args, hint) => {
    write('body.json', body);
    write('form.txt', 'email=jane@shop.test');
    const { status, stdout, stderr } = await run('save', ...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(hint);
    expect(readdirSync(project)).not.toContain('test');
  });
});

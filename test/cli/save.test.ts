import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
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

/** Runs all tests of the project: what vitest prints, and how the test of each file ended. */
const runTests = () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      resolve('node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      '--outputFile=results.json',
    ],
    {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', WEBHOOK_SECRET: undefined },
    },
  );
  const { testResults } = JSON.parse(readFileSync(join(project, 'results.json'), 'utf8')) as {
    testResults: readonly {
      name: string;
      assertionResults: readonly { status: string }[];
    }[];
  };
  const statusOf = (file: string) =>
    testResults.find(({ name }) => name.endsWith(file))?.assertionResults[0]?.status;
  return { output: stdout + stderr, statusOf };
};

const body =
  '{"id":"ord_1","email":"jane@shop.test","value":10.0,"status":100,"delivered":"KEY-1","ip_address":"203.0.113.9"}';
const files = () => readdirSync(join(project, 'test/webhooks')).sort();

describe('storefront-webhooks save', () => {
  test('makes tests that fail with the cause, and pass where it is mended', async () => {
    write('body.json', body);
    const { status, stdout, stderr } = await run('save', 'body.json', '--event', 'order:paid');
    expect([status, stderr]).toEqual([0, '']);
    const told = JSON.parse(stdout);
    expect(told.test).toBe('test/webhooks/0001-order-paid.test.ts');
    expect(told.next).toBe('npx vitest run test/webhooks/0001-order-paid.test.ts');
    const fixture = loadFixture(join(project, told.fixture));
    expect(Buffer.from(fixture.body).toString()).toContain('"value":10.0');
    expect(readFileSync(join(project, told.fixture), 'utf8')).not.toMatch(/jane|KEY-1|203\.0/);

    write('src/mended.ts', receiver(''));
    const mended = ['body.json', '--event', 'order:paid', '--receiver', 'src/mended.ts'];
    const { test: passing } = JSON.parse((await run('save', ...mended)).stdout);

    // A recording, and a function that makes the receiver, in another place.
    mkdirSync(join(project, 'app'));
    write(
      'app/hooks.ts',
      "import { createReceiver } from 'storefront-webhooks';\nexport const makeReceiver = (secret: string) => createReceiver({ secret }).on('order:*', () => {});\n",
    );
    const args = ['--out', 'spec/hooks', '--receiver', 'app/hooks.ts'];
    const recording = resolve('fixtures/order-paid/default.hook.json');
    const { test: recorded } = JSON.parse((await run('save', recording, ...args)).stdout);
    expect(recorded).toMatch(/^spec\/hooks\//);

    const event = "x'); process.exit(3); ('\u2028../../y";
    const odd = JSON.parse((await run('save', 'body.json', '--event', event)).stdout);
    expect(odd.test).toBe('test/webhooks/0003-x-process-exit-3-y.test.ts');
    expect(loadFixture(join(project, odd.fixture)).event).toBe(event);

    const { output, statusOf } = runTests();
    expect([told.test, passing, recorded, odd.test].map(statusOf)).toEqual([
      'failed',
      'passed',
      'passed',
      'failed',
    ]);
    expect(output).toMatch(/no stock left[\s\S]*src\/webhooks\.ts:4/);
    // An event has no code, whatever its sender has called it. Nobody knows it, so it is not handled.
    expect(output).toContain("expected 'ignored' to be 'handled'");
  });

  test('takes a webhook log of the provider, and never writes over what is there', async () => {
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
    ['export const { receiver, database } = open();', 'receiver', false],
    ['const app = 1;\nexport { app, made as receiver };', 'receiver', false],
    ['export { makeReceiver };\nfunction makeReceiver() {}', 'makeReceiver', true],
  ])('finds what is exported by %s', async (source, name, isCalled) => {
    write('body.json', body);
    write('shop.js', source);
    const args = ['body.json', '--event', 'order:paid', '--receiver', 'shop.js'];
    const { stdout } = await run('save', ...args);
    const { test: file } = JSON.parse(stdout);
    expect(file).toBe('test/webhooks/0001-order-paid.test.js');
    const text = readFileSync(join(project, file), 'utf8');
    expect(text).toContain(`const { ${name} } = await import(`);
    expect(text).toContain(`replay(${name}${isCalled ? '(secret)' : ''},`);
  });

  test('says that a test runs over the store of the shop, where it cannot be given another', async () => {
    write('body.json', body);
    write('shop.js', 'export const receiver = createReceiver({ secret, store: sqliteStore(db) });');
    const args = ['body.json', '--event', 'order:paid', '--receiver', 'shop.js'];
    expect((await run('save', ...args)).stderr).toContain('over the store that shop.js opens');
  });

  test.each([
    [['nothing.json'], 'no event, fixture or file nothing.json'],
    [['body.json', '--event', 'order:paid', '--receiver', 'src/none.ts'], 'with --receiver'],
    [['body.json', '--event', 'order:paid', '--receiver', 'package.json'], 'exports no receiver'],
    [['form.txt', '--event', 'order:paid'], '--as-is'],
    [['body.json'], '--event'],
  ])('says what is missing, and writes nothing: %j', async (args, hint) => {
    write('body.json', body);
    write('form.txt', 'email=jane@shop.test');
    const { status, stdout, stderr } = await run('save', ...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(hint);
    expect(readdirSync(project)).not.toContain('test');
  });
});

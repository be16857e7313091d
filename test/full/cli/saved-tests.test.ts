import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadFixture } from 'storefront-webhooks/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run as runCommand } from '../../cli/command.js';

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

/** Runs all tests of the project. Returns the output of vitest, and the result of each file. */
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

test('save writes tests that fail with the cause, and pass after it is fixed', async () => {
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

  // A recording, and a function that creates the receiver, in another folder.
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
  // The name of an event is never run as code. The event is unknown, so no handler runs.
  expect(output).toContain("expected 'ignored' to be 'handled'");
});

test('save writes tests that pass, however the module exports its receiver', async () => {
  const sources = [
    'export async function makeReceiver(secret) { return make(secret); }',
    'export default function makeReceiver(secret) { return make(secret); }',
    'const makeReceiver = (secret) => make(secret);\nexport { makeReceiver };',
    'const once = (one) => one;\nexport const makeReceiver = once(make);',
    'export default make(process.env.WEBHOOK_SECRET);',
    "export const receiverPath = '/in';\nexport default make(process.env.WEBHOOK_SECRET);",
    'const makeReceiver = async (secret) => make(secret);\nexport const receiver = makeReceiver(process.env.WEBHOOK_SECRET);',
    'const open = async () => make(process.env.WEBHOOK_SECRET);\nexport const receiver = open();',
    'const made = make(process.env.WEBHOOK_SECRET);\nexport { made as receiver };',
  ];
  const make = "const make = (secret) => createReceiver({ secret }).on('order:*', () => {});";
  const imported = "import { createReceiver } from 'storefront-webhooks';";
  const saved: string[] = [];
  for (const [index, source] of sources.entries()) {
    write(`src/${index}.js`, [imported, make, source].join('\n'));
    const args = [resolve('fixtures/order-paid/default.hook.json'), '--receiver'];
    const { stdout } = await run('save', ...args, `src/${index}.js`);
    saved.push(JSON.parse(stdout).test);
  }
  const { statusOf } = runTests();
  expect(saved.map(statusOf)).toEqual(sources.map(() => 'passed'));
});

test('save writes a test for a receiver of several shops that sends to the shop of the log', async () => {
  write(
    'src/shops.ts',
    `import { createReceiver } from 'storefront-webhooks';
export const receiver = createReceiver({
  secret: ({ url }) => (url === '/webhooks/keys' ? { secret: 'of keys', scope: 'keys' } : null),
}).on('order:paid', () => {});
`,
  );
  const log = `{"id":"whl_9","url":"https://shop.test/webhooks/keys","event":"order:paid","payload":${body},"response_code":500}`;
  write('log.json', log);
  const { stdout } = await run('save', 'log.json', '--receiver', 'src/shops.ts');
  const { output, statusOf } = runTests();
  expect(statusOf(JSON.parse(stdout).test), output).toBe('passed');
});

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFixture } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createObserver, firstCount } from '../../../src/cli/check/observer.js';
import { createOrders } from '../../../src/cli/check/orders.js';
import { ROWS } from '../../../src/cli/check/rows/index.js';
import { runRows } from '../../../src/cli/check/run.js';
import { recordsIn, run, runInTerminal } from '../command.js';
import { forgetful, ours, type RunningEndpoint, SECRET, serveEndpoint } from './endpoints.js';

const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
let good: RunningEndpoint;
let bad: RunningEndpoint;

beforeAll(async () => {
  good = await serveEndpoint(ours);
  bad = await serveEndpoint(forgetful);
});

afterAll(async () => {
  await Promise.all([good.stop(), bad.stop()]);
  rmSync(folder, { recursive: true });
});

const env = { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' };
const check = (...args: string[]) => run(['check', '--goods-within', '1000', ...args], { env });
const rowsOf = (...rows: string[]) => rows.flatMap((row) => ['--only', row]);
const observed = ({ url }: RunningEndpoint) => `${url.origin}/goods/{order}`;

describe('storefront-webhooks check', () => {
  test('prints to a pipe the failed rows, their consequence for a customer, and how to repeat them', async () => {
    const args = [bad.url.href, '--observe', observed(bad), ...rowsOf('duplicate', 'tampered')];
    const { status, stdout, stderr } = await check(...args);
    const [duplicate, tampered] = recordsIn(stdout);
    expect(duplicate).toMatchObject({
      row: 'duplicate',
      verdict: 'failed',
      answers: [200, 200, 200],
      goods: 3,
      customer: 'Three keys were handed out for one payment.',
      change: expect.stringContaining('receiver.onPaid'),
    });
    expect(tampered).toMatchObject({ row: 'tampered', verdict: 'passed', goods: 0 });
    expect(stderr).toContain('1 passed, 1 failed, 0 not tried');
    expect(status).toBe(1);

    const [, , ...repeated] = duplicate.repeat.split(' ');
    expect(repeated.slice(0, 4)).toEqual(['check', bad.url.href, '--only', 'duplicate']);
    expect(duplicate.repeat).toContain(' --goods-within 1000');
    expect(duplicate.repeat).not.toContain('--timeout');
  });

  test('runs a command that counts the goods, with the order in its arguments or environment', async () => {
    const url = JSON.stringify(`${bad.url.origin}/goods/`);
    const script = `fetch(${url} + process.env.ORDER_ID).then(async (r) => console.log("counted", await r.text()))`;
    for (const observe of [
      `ORDER=$ORDER_ID ${process.execPath} -e '${script}'`,
      `${process.execPath} -e '${script.replace('process.env.ORDER_ID', '"{order}"')}'`,
    ]) {
      const { status, stdout } = await check(
        bad.url.href,
        '--observe',
        observe,
        ...rowsOf('fresh-id'),
      );
      expect(recordsIn(stdout)).toMatchObject([{ row: 'fresh-id', verdict: 'failed', goods: 2 }]);
      expect(status).toBe(1);
    }
  });

  test('compares the counts before and after if all goods are counted', async () => {
    const args = ['--observe', `${bad.url.origin}/goods`, ...rowsOf('duplicate', 'unsigned')];
    const { stdout } = await check(bad.url.href, ...args);
    expect(recordsIn(stdout)).toMatchObject([
      { row: 'duplicate', verdict: 'failed', goods: 3 },
      { row: 'unsigned', verdict: 'passed', goods: 0 },
    ]);
  });

  test('does not pass a row that only a count of the goods can decide', async () => {
    const { status, stdout, stderr } = await check(
      bad.url.href,
      ...rowsOf('duplicate', 'unsigned'),
    );
    expect(recordsIn(stdout)).toMatchObject([
      { row: 'duplicate', verdict: 'not tried', cause: expect.stringContaining('--observe') },
      { row: 'unsigned', verdict: 'passed' },
    ]);
    expect(stderr).toContain('Goods were not counted');
    expect(status).toBe(0);
  });

  test('stops after a paid order that is not accepted, and prints the reason', async () => {
    const { status, stdout } = await check(`${good.url.origin}/elsewhere`);
    const [paid, ...others] = recordsIn(stdout);
    expect(paid).toMatchObject({ row: 'paid', verdict: 'failed', answers: [404] });
    expect(paid.change).toContain('path');
    expect(new Set(others.map(({ verdict }) => verdict))).toEqual(new Set(['not tried']));
    expect(status).toBe(1);
  });

  test('stops and restarts the endpoint with --restart', async () => {
    const mark = join(folder, 'restarted');
    const { status, stdout } = await check(
      ...[good.url.href, '--observe', observed(good), '--restart', `touch ${mark}`],
      ...rowsOf('down-and-up'),
    );
    expect(recordsIn(stdout)).toMatchObject([{ row: 'down-and-up', verdict: 'passed', goods: 1 }]);
    expect([status, existsSync(mark)]).toEqual([0, true]);
  });

  test('never prints the secret', async () => {
    const args = [bad.url.href, '--secret', SECRET, '--observe', observed(bad)];
    const { stdout, stderr } = await check(...args, ...rowsOf('duplicate'));
    expect(recordsIn(stdout)).toMatchObject([{ verdict: 'failed' }]);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stderr).toContain('is on the command line');
  });

  test.each([
    [['http://localhost:1/', '--only', 'duplicat'], 'Did you mean "duplicate"?'],
    [['nowhere'], 'is not an HTTP or HTTPS URL'],
    [['http://192.0.2.1/webhooks'], '--plain-http'],
    [['https://192.0.2.1/webhooks'], 'add --yes.'],
    [['http://localhost:1/', '--observe', 'exit 3'], 'the command exited with 3'],
    [['http://localhost:1/', '--observe', 'echo none'], 'the output contains no whole number'],
    [['http://localhost:1/', '--observe', 'echo 7 # {order}'], 'was never sent'],
    [['http://localhost:1/', '--order', 'query:replied'], 'is not an order'],
    [['http://localhost:1/', '--junit', 'no-such-folder/a.xml'], '--junit names a file'],
  ])(
    'that is used wrongly sends nothing, reports the mistake, and exits with 2: %j',
    async (args, told) => {
      const { status, stdout, stderr } = await check(...args);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(told);
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );

  test('writes JUnit that XML readers and Jenkins accept', async () => {
    const file = join(folder, 'junit.xml');
    const rows = rowsOf('duplicate', 'unsigned', 'down-and-up');
    const url = new URL('?token=a-token', bad.url);
    url.password = 'a-password';
    const counts = ['--observe', `${observed(bad)}#a-password`];
    await check(url.href, ...counts, '--junit', file, ...rows);
    const xml = readFileSync(file, 'utf8');
    expect(xml).toMatch(
      /<testsuite name="[^"]*" skipped="1" timestamp="[^"]*" tests="3" failures="1"/,
    );
    expect(xml).toContain('message="Three keys were handed out for one payment."');
    expect(xml).toContain('({ payload: order }) =&gt; deliver(order)');
    expect(xml.match(/<testcase /g)).toHaveLength(3);
    expect(xml).toContain(`check ${bad.url.href}`);
    expect(xml).toContain("--observe '…'");
    expect(xml).not.toMatch(/a-token|a-password/);
  });

  test('leaves the commands out of the JUnit, because they may hold a password', async () => {
    const file = join(folder, 'commands.xml');
    const restart = ['--restart', 'PASSWORD=a-password ./restart'];
    const counts = ['--observe', observed(bad)];
    await check(bad.url.href, ...counts, ...restart, '--junit', file, ...rowsOf('duplicate'));
    const xml = readFileSync(file, 'utf8');
    expect(xml).toContain("--restart '…'");
    expect(xml).not.toContain('a-password');
  });
});

describe('in a terminal', () => {
  test.each([80, 200])('prints each row in a line that fits %d columns', async (columns) => {
    const tried = rowsOf('duplicate', 'unsigned', 'down-and-up');
    const within = ['--goods-within', '500'];
    const args = ['check', bad.url.href, '--observe', observed(bad), ...within, ...tried];
    const { status, stdout, lines } = await runInTerminal(columns, args, { env });
    const rows = lines.filter((line) => /^[✓✗–] /.test(line));
    expect(rows.map((line) => line.split(/ {2,}/).slice(0, 2).join(' '))).toEqual([
      '✗ duplicate',
      '✓ unsigned',
      '– down-and-up',
    ]);
    for (const line of rows) expect(line.length).toBeLessThanOrEqual(columns);
    expect(stdout).toContain('customer: Three keys were handed out for one payment.');
    expect(status).toBe(1);
  });

  test('asks before it sends to an address outside a private network, and sends nothing after a no', async () => {
    const { status, stdout } = await runInTerminal(80, ['check', 'https://192.0.2.1/webhooks'], {
      ...{ env, input: 'n\n' },
    });
    expect(stdout).toContain('Is it your own test endpoint? [y/N]');
    expect(stdout).toContain('Nothing was sent.');
    expect(status).toBe(2);
  });
});

describe('a run', () => {
  test('of a slow endpoint ends in time, and lists the rows that it did not try', async () => {
    const endpoint = await serveEndpoint(() => (_, response) => {
      setTimeout(() => response.end(), 1000);
    });
    const results = await runRows({
      rows: ROWS,
      setting: {
        url: endpoint.url,
        secret: SECRET,
        headerPrefix: 'X-Service-',
        orders: createOrders(loadFixture('order:paid')),
        timeoutMs: 10_000,
        endlessMs: 3000,
        restart: undefined,
      },
      observer: undefined,
      goodsMs: 1000,
      limitMs: 8000,
      repeat: (row) => `--only ${row}`,
      progress: () => {},
    });
    await endpoint.stop();
    expect(results).toHaveLength(ROWS.length);
    const late = results.filter(({ cause }) => cause?.startsWith('The time for all rows was up'));
    expect(late.length).toBeGreaterThan(5);
  });
});

test.each([
  ['3\n', 3],
  [' count \n-------\n     2\n(1 row)\n', 2],
  ['{"id":"ord_12","count":4}', 4],
  ['[{"count":"5"}]', 5],
  ['ord_12 has 1 key', 1],
  ['none', undefined],
  ['1.5', undefined],
])('the count in %j is %j', (told, count) => {
  expect(firstCount(told)).toBe(count);
});

test('a failed count is retried, because a database may be locked', async () => {
  const mark = join(folder, 'asked');
  const running = new AbortController().signal;
  // The first attempt fails.
  const command = `if test -e ${mark}; then echo 3; else touch ${mark}; echo locked >&2; exit 5; fi`;
  expect(await createObserver(command, process.env, running).count('ord_1')).toBe(3);
});

test('a count that always fails is tried four times', async () => {
  const mark = join(folder, 'tries');
  const running = new AbortController().signal;
  const counted = createObserver(`echo tried >> ${mark}; exit 5`, process.env, running).count(
    'ord_1',
  );
  await expect(counted).rejects.toThrow('the command exited with 5');
  expect(readFileSync(mark, 'utf8')).toBe('tried\n'.repeat(4));
});

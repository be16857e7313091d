import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { IdempotencyStore } from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import { loadFixture, replay, sign } from 'storefront-webhooks/testing';
import stringWidth from 'string-width';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { asShown, begin, openShop, runInTerminal, SECRET, serve } from './command.js';

const BODY = '{"id":"ord_1","status":100}';
const COLOUR = '\u001b[3';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

/** Answers 200 to every request, and verifies nothing. */
const openForgetful = () =>
  serve(createServer((request, response) => request.resume().on('end', () => response.end('{}'))));

async function leaveDead(store: IdempotencyStore, count: number): Promise<void> {
  const terms = { owner: 'a', leaseMs: 1000, keepMs: 1e9, maxCrashes: 5 };
  for (let n = 0; n < count; n++) {
    const key = String(n).padStart(64, '0');
    const about = { key, scope: '', id: `whl_${n}`, event: 'order:paid', receivedAt: Date.now() };
    const claim = await store.claim({ ...about, body: new TextEncoder().encode(BODY) }, terms);
    if (claim.state !== 'acquired') throw new Error('it was not claimed');
    const error = 'the supplier has answered that it has no key left in stock for this product';
    await store.fail(key, claim.fence, { permanent: true, error });
  }
}

async function openStore(count: number): Promise<IdempotencyStore> {
  const database = new Database(join(cwd, 'shop.db'));
  onTestFinished(() => void database.close());
  const store = sqliteStore(database);
  await leaveDead(store, count);
  return store;
}

type Shown = Awaited<ReturnType<typeof runInTerminal>>;

/** The arguments of each command, to be run in terminals of several widths. */
const COMMANDS: Readonly<
  Record<string, (columns: number, env: Readonly<Record<string, string>>) => Promise<Shown>>
> = {
  async doctor(columns, env) {
    writeFileSync(join(cwd, 'received.json'), BODY);
    const signature = sign('{"id": "ord_1", "status": 100}', SECRET);
    const args = ['doctor', 'received.json', signature, '--framework', 'express'];
    return runInTerminal(columns, args, { env, cwd });
  },
  async check(columns, env) {
    const { url } = await openForgetful();
    const rows = ['duplicate', 'unsigned', 'down-and-up'].flatMap((row) => ['--only', row]);
    return runInTerminal(columns, ['check', url, ...rows], { env, cwd });
  },
  async save(columns, env) {
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/webhooks.ts'), 'export const receiver = createReceiver({});\n');
    const body = '{"email":"jane@shop.test","ip_address":"203.0.113.9","delivered":"KEY-1"}';
    writeFileSync(join(cwd, 'body.json'), body);
    return runInTerminal(columns, ['save', 'body.json', '--event', 'order:paid'], { env, cwd });
  },
  async dead(columns, env) {
    await openStore(2);
    return runInTerminal(columns, ['dead', 'redrive', 'shop.db'], { env, cwd });
  },
  async record(columns, env) {
    const { url } = await openShop('another secret');
    const recorder = begin(['record', url], { env, cwd }, { columns });
    const [, origin = ''] = await recorder.says(/Send to (http:\S+):/);
    await replay(origin, loadFixture('order:paid'), { secret: SECRET });
    await recorder.says(/again:/);
    recorder.interrupt();
    return asShown(await recorder.ended);
  },
};

describe('in a terminal', () => {
  describe.each(Object.entries(COMMANDS))('%s', (name, runIn) => {
    test.each([80, 200, 0])('of %d columns, no line is longer', async (columns) => {
      const { lines, stdout } = await runIn(columns, { WEBHOOK_SECRET: SECRET });
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns || 80);
      expect(lines.filter((line) => /^\^C| {2}$/.test(line))).toEqual([]);
      expect(stdout.includes(COLOUR)).toBe(name !== 'save');
    });

    test('has no colours with NO_COLOR', async () => {
      const { stdout } = await runIn(80, { WEBHOOK_SECRET: SECRET, NO_COLOR: '1' });
      expect(stdout).not.toContain(COLOUR);
    });
  });

  test('only data goes to stdout', async () => {
    await openStore(1);
    const args = ['dead', 'redrive', 'shop.db'];
    const { lines } = await runInTerminal(80, args, { cwd, hasErrors: false });
    expect(lines).toEqual([expect.stringMatching(/^would be put back .*ord_1 +1× +the supplier/)]);
  });

  test('shows its progress in one line, and clears it', async () => {
    const env = { WEBHOOK_SECRET: SECRET };
    const { url } = await openShop();
    const { stdout, lines } = await runInTerminal(
      80,
      ['send', 'order:paid', url, '--duplicate', '9'],
      { env },
    );
    for (const told of ['0 of 9 sent …', '8 of 9 sent …'])
      expect(stdout).toContain(`${told}\r\u001b[K`);
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toBe('9 sent, all answered as expected.');

    await openStore(3);
    const args = ['dead', 'redrive', 'shop.db', '--apply'];
    const redriven = await runInTerminal(80, args, { env, cwd });
    expect(redriven.stdout).toContain('2 of 3 done …\r\u001b[K');
    expect(redriven.lines.map((line) => line.slice(0, 8))).toEqual([
      ...Array(3).fill('put back'),
      '3 put ba',
      'the shop',
      'in it in',
    ]);
  });

  test.each([
    ['save', ['--event', 'order:paid', '--receiver', 'webhooks.js'], 'without:  /\\u{1b}[2Jname'],
    ['doctor', [sign('{"id":"ord_1"}', SECRET)], 'but the sender signed its field \\u{1b}[2Jname.'],
  ])('%s escapes a name out of a body', async (command, args, told) => {
    writeFileSync(join(cwd, 'webhooks.js'), 'export const receiver = open();');
    const body = {
      save: JSON.stringify({ '\u001b[2Jname': 'Jane' }),
      doctor: `a=1&\u001b[2Jname=${encodeURIComponent('{"id":"ord_1"}')}`,
    }[command];
    writeFileSync(join(cwd, 'body'), `${body}`);
    const env = { WEBHOOK_SECRET: SECRET };
    const shown = await runInTerminal(200, [command, 'body', ...args], { env, cwd });
    expect(shown.stdout).not.toContain('\u001b[2J');
    expect(shown.lines.join('\n')).toContain(told);
  });
});

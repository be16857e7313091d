/**
 * A receiver in Express, to which saved deliveries are sent over HTTP as the provider would send them.
 * Prints what they were answered, and exits with 1 if one was not answered as its fixture expects.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import express from 'express';
import {
  createReceiver,
  type Hooks,
  type IdempotencyStore,
  memoryStore,
  type Order,
} from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { createGoods } from 'storefront-webhooks/goods';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import {
  type Fixture,
  loadFixture,
  type ReplayResult,
  replay,
  shippedFixtures,
} from 'storefront-webhooks/testing';

const USAGE = `Usage: npm run demo [-- --all]

Starts a receiver on this machine, sends it saved deliveries, hostile ones among
them, and prints what they were answered.

  --all   prints each of them in a table, in place of nine
  --help  prints this`;

/** What the shop needs from elsewhere. */
const shop = {
  shipped: new Set<string>(),
  mailServerIsDown: true,

  async ship(order: Order) {
    // Stands for a call to the warehouse, as do those below for what they are named after.
    await sleep(1);
    shop.shipped.add(order.id);
  },
  async mail() {
    await sleep(1);
    if (shop.mailServerIsDown) throw new Error('the mail server is down');
  },
  async note() {
    await sleep(1);
  },
};

const secret = 'the webhook secret of this demo';
let signature = '';

const hooks: Hooks = {
  onOutcome() {
    signature = 'valid';
  },
  onRejected({ verified, code }) {
    if (verified) signature = 'valid';
    else signature = code === 'signature_invalid' ? 'REFUSED' : 'unchecked';
  },
  // A handler that fails is a part of the story.
  onError() {},
};

/** Another key each time that it is asked for one. */
const makeGoods = (store: IdempotencyStore) =>
  createGoods({ secret, store, hooks }, () => `KEY-${crypto.randomUUID()}`);

const makeReceiver = (store: IdempotencyStore) =>
  createReceiver({ secret, store, hooks })
    .on('order:paid', async ({ payload: order }) => await shop.ship(order), {
      name: 'ship',
      oncePer: (order) => order.id,
    })
    .on('order:*', async () => await shop.note(), { name: 'bookkeeping' })
    .on('product:out_of_stock', async () => await shop.note())
    .on(['query:created', 'query:updated'], async () => await shop.note())
    .on(['feedback:created', 'feedback:updated'], async () => await shop.note())
    .on('query:replied', async () => await shop.mail());

interface Scene {
  readonly name: string;
  readonly text: string;
  /** In place of what its fixture expects. */
  readonly expect?: Fixture['expect'];
  readonly before?: () => void;
  /** Sends it once more, to be given the same bytes. */
  readonly again?: boolean;
}

const STORY: readonly Scene[] = [
  { name: 'order:paid/default', text: 'an order is paid: its buyer gets the goods' },
  { name: 'order:paid/duplicate', text: 'the provider repeats it: nothing more is done' },
  { name: 'hostile/tampered-body', text: 'its body was changed on the way: refused' },
  { name: 'hostile/unsigned', text: 'it has no signature, so who sent it? refused' },
  { name: 'hostile/forged-event', text: 'an unpaid order, sent as a paid one: refused' },
  {
    name: 'query:replied/default',
    text: 'the handler fails: the provider will retry',
    expect: { status: 500, outcome: 'failed' },
  },
  {
    name: 'query:replied/retry',
    text: 'the provider does, and the handler succeeds',
    before: () => {
      shop.mailServerIsDown = false;
    },
  },
  { name: 'unknown/default', text: 'an event that no handler is for: ignored' },
  {
    name: 'goods/with-headers',
    text: 'a product asks for its key, twice: one key',
    again: true,
  },
];

/** Plays the story and sends all other saved deliveries; gives the exit code. */
async function demo(showAll: boolean): Promise<number> {
  // Node has SQLite built in from version 22.13 on, of which the types of Node 20 do not know.
  const sqlite = process.getBuiltinModule('node:sqlite') as
    | typeof import('node:sqlite')
    | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  const store = sqlite
    ? sqliteStore(new sqlite.DatabaseSync(join(folder, 'webhooks.db')))
    : memoryStore();
  const receiver = makeReceiver(store);
  const goods = makeGoods(store);
  const app = express().use('/webhooks', toExpress(receiver)).use('/goods', toExpress(goods));
  const server = createServer(app);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  console.log(
    `Real HTTP: Express on ${origin}/webhooks, remembering in ${sqlite ? 'SQLite' : 'memory'}.`,
  );
  console.log('It is sent deliveries, good and bad. ✓ means: answered as it should be.\n');

  const results: ReplayResult[] = [];
  const surprises: string[] = [];
  const send = async (name: string, expect?: Fixture['expect']) => {
    const fixture = loadFixture(name);
    const url = `${origin}/${fixture.event === 'goods' ? 'goods' : 'webhooks'}`;
    const result = await replay(url, { ...fixture, expect: expect ?? fixture.expect }, { secret });
    results.push(result);
    // Below what the receiver says of itself at its first use.
    if (results.length === 1) console.log(paint('dim', showAll ? TABLE_HEAD : STORY_HEAD));
    if (result.asExpected === false) surprises.push(tableRow(result));
    if (showAll) console.log(tableRow(result));
    return result;
  };

  for (const { name, text, expect, before, again = false } of STORY) {
    before?.();
    const result = await send(name, expect);
    if (again && (await send(name)).body !== result.body) surprises.push(tableRow(result));
    if (!showAll) console.log(storyRow(result, text));
  }
  const told = new Set(STORY.map(({ name }) => name));
  for (const name of shippedFixtures()) if (!told.has(name)) await send(name);

  await Promise.all([receiver.close(), goods.close()]);
  server.close();
  rmSync(folder, { recursive: true });

  const good = results.length - surprises.length;
  const count = `${good} of ${results.length} deliveries answered as expected`;
  console.log(`\n${count}, ${shop.shipped.size} orders shipped.`);
  if (surprises.length > 0) {
    console.log(['Not as expected:', ...surprises].join('\n'));
    return 1;
  }
  console.log('\nNext:');
  if (!showAll) console.log('  npm run demo -- --all                            every one of them');
  console.log('  WEBHOOK_SECRET=abc npx tsx examples/express.ts   a shop to build on');
  console.log('  examples/README.md                               how to send it a delivery');
  return 0;
}

const STORY_HEAD = '  ID        ANSWER            MS  WHAT HAPPENS';

function storyRow(result: ReplayResult, text: string): string {
  const { status, outcome = 'goods', durationMs } = result;
  const answer = `${status} ${outcome}`.padEnd(13);
  const ms = durationMs.toFixed(1).padStart(6);
  const shown = status < 300 ? answer : paint('yellow', answer);
  const cells = [
    `${signOf(result)} ${paint('dim', cell(idOf(result), 8))} `,
    `${shown} ${paint('dim', ms)} `,
  ];
  return `${cells.join(' ')} ${cut(text, width() - 34)}`;
}

const TABLE_HEAD = `  ${[
  cell('EVENT', 20),
  cell('ID', 8),
  cell('SIGNATURE', 9),
  cell('OUTCOME', 9),
  'STATUS',
  'MS'.padStart(6),
  'WHAT IT IS',
].join('  ')}`;

function tableRow(result: ReplayResult): string {
  const { fixture, status, outcome = 'goods', durationMs } = result;
  const cells = [
    cell(fixture.event, 20),
    cell(idOf(result), 8),
    cell(signature, 9),
    cell(outcome, 9),
    cell(`${status}`, 6),
    durationMs.toFixed(1).padStart(6),
  ].join('  ');
  return `${signOf(result)} ${cells}  ${cut(fixture.description, width() - cells.length - 4)}`;
}

function signOf({ asExpected }: ReplayResult): string {
  return asExpected === false ? paint('red', '✗') : paint('green', '✓');
}

function idOf({ fixture }: ReplayResult): string {
  return fixture.headers.find(([name]) => name === 'X-Service-Webhook')?.[1] || '(none)';
}

/** Text of a delivery, without what a terminal would obey, in so many columns. */
function cell(text: string, columns: number): string {
  return cut(text.replace(/[^\x20-\x7e]/g, '?'), columns).padEnd(columns);
}

function cut(text: string, columns: number): string {
  return text.length > columns ? `${text.slice(0, Math.max(0, columns - 1))}…` : text;
}

/** The columns of the terminal, some of which say 0; a file or a pipe has no end of them. */
function width(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

function paint(style: Parameters<typeof styleText>[0], text: string): string {
  // hasColors() knows NO_COLOR.
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;
}

// Whoever reads the output may have seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const flags = process.argv.slice(2);
const unknown = flags.find((flag) => flag !== '--all' && flag !== '--help');
if (unknown !== undefined) {
  console.error(`The demo does not know ${unknown}: npm run demo -- --help says what it knows.`);
  process.exitCode = 2;
} else if (flags.includes('--help')) {
  console.log(USAGE);
} else {
  process.exitCode = await demo(flags.includes('--all'));
}

/**
 * A receiver in Express, to which the saved deliveries are sent over HTTP as the provider would send
 * them. Prints what each was answered, and exits with 1 if one was not answered as its fixture expects.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { sqliteStore } from 'storefront-webhooks/sqlite';
import {
  loadFixture,
  type ReplayResult,
  replay,
  shippedFixtures,
} from 'storefront-webhooks/testing';

const secret = 'the webhook secret of this demo';
const shipped = new Set<string>();
let mailServerIsDown = true;
let signature = '';

// Node has SQLite built in from version 22.13 on, of which the types of Node 20 do not know.
const sqlite = process.getBuiltinModule('node:sqlite') as typeof import('node:sqlite') | undefined;
const folder = mkdtempSync(join(tmpdir(), 'demo-'));
const store = sqlite
  ? sqliteStore(new sqlite.DatabaseSync(join(folder, 'webhooks.db')))
  : memoryStore();

const receiver = createReceiver({
  secret,
  store,
  hooks: {
    onOutcome() {
      signature = 'valid';
    },
    onRejected({ verified, code }) {
      if (verified) signature = 'valid';
      else signature = code === 'signature_invalid' ? 'REFUSED' : 'unchecked';
    },
    onError() {},
  },
})
  .on('order:paid', ({ payload: order }) => void shipped.add(order.id), { oncePer: ({ id }) => id })
  .on('order:*', () => {}, { name: 'bookkeeping' })
  .on(['product:out_of_stock', 'feedback:created', 'feedback:updated'], () => {})
  .on(['query:created', 'query:updated'], () => {})
  .on('query:replied', () => {
    if (mailServerIsDown) throw new Error('the mail server is down');
  });

const app = express();
app.use('/webhooks', toExpress(receiver));
const server = createServer(app);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const results: ReplayResult[] = [];

async function send(name: string, expect = loadFixture(name).expect) {
  const result = await replay(server, { ...loadFixture(name), expect }, { secret });
  results.push(result);
  const { fixture, status, outcome = '?', durationMs, asExpected } = result;
  const id = fixture.headers.find(([header]) => header === 'X-Service-Webhook')?.[1] || '(none)';
  row(
    fixture.event,
    id,
    signature,
    outcome,
    `${status}`,
    durationMs.toFixed(1),
    asExpected,
    fixture.description,
  );
}

function row(
  event: string,
  id: string,
  check: string,
  outcome: string,
  status: string,
  ms: string,
  asExpected: boolean | undefined,
  description: string,
) {
  const cells = [
    cell(event, 21),
    cell(id, 10),
    cell(check, 9),
    cell(outcome, 9),
    cell(status, 6),
    ms.padStart(6),
  ];
  const mark = asExpected === undefined ? ' ' : asExpected ? '✓' : '✗';
  console.log(`${cells.join('  ')}  ${mark} ${description}`);
}

function cell(text: string, width: number) {
  const safe = text.replace(/[^\x20-\x7e]/g, '?');
  return (safe.length > width ? `${safe.slice(0, width - 1)}…` : safe).padEnd(width);
}

row('EVENT', 'ID', 'SIGNATURE', 'OUTCOME', 'STATUS', 'MS', undefined, 'WHAT IT IS');
const interesting = [
  'order:paid/default',
  'order:paid/duplicate',
  'hostile/tampered-body',
  'hostile/forged-event',
  'unknown/default',
];
for (const name of interesting) await send(name);

// A handler that fails is answered 500; the provider sends the delivery again, and it is handled.
await send('query:replied/default', { status: 500, outcome: 'failed' });
mailServerIsDown = false;
await send('query:replied/retry');

const sent = new Set([...interesting, 'query:replied/default', 'query:replied/retry']);
for (const name of shippedFixtures()) if (!sent.has(name)) await send(name);

await receiver.close();
server.close();
rmSync(folder, { recursive: true });

const surprises = results.filter(({ asExpected }) => asExpected === false);
console.log(
  `\n${results.length} deliveries, remembered ${sqlite ? 'in SQLite' : 'in memory'}, ` +
    `${surprises.length} of them not answered as expected; ${shipped.size} orders shipped.`,
);
process.exitCode = surprises.length === 0 ? 0 : 1;

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { createReceiver, type Hooks, type IdempotencyStore } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { createGoods } from 'storefront-webhooks/goods';
import {
  type Fixture,
  loadFixture,
  type ReplayResult,
  replay,
  shippedFixtures,
} from 'storefront-webhooks/testing';
import { cell, cut, paint, width } from './terminal.js';

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
  onError() {},
};

// This is a placeholder for the work of a shop.
const note = () => sleep(1);
let replies = 0;
/** Fails the first time, so that one delivery has to be retried. */
const failOnce = () => {
  replies += 1;
  if (replies === 1) throw new Error('the mail server is down');
};
const FAILS: Readonly<Record<string, Fixture['expect']>> = {
  'query:replied/default': { status: 500, outcome: 'failed' },
};

const makeReceiver = (store: IdempotencyStore) =>
  createReceiver({ secret, store, hooks })
    .onPaid(note)
    .on('order:*', note, { name: 'bookkeeping' })
    .on('product:out_of_stock', note)
    .on(['query:created', 'query:updated'], note)
    .on('query:replied', failOnce)
    .on(['feedback:created', 'feedback:updated'], note);

/**
 * Sends all saved deliveries, including hostile ones, to a receiver. Prints how many were answered as their
 * fixtures expect.
 */
export async function sendFixtures(store: IdempotencyStore, showAll: boolean): Promise<boolean> {
  const receiver = makeReceiver(store);
  const goods = createGoods({ secret, store, hooks }, () => `KEY-${crypto.randomUUID()}`);
  const app = express().use('/webhooks', toExpress(receiver)).use('/goods', toExpress(goods));
  const server = createServer(app);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  if (showAll) console.log(`\n${TABLE_HEAD}`);

  const results: ReplayResult[] = [];
  for (const name of shippedFixtures()) {
    const saved = loadFixture(name);
    const fixture = { ...saved, expect: FAILS[name] ?? saved.expect };
    const path = fixture.event === 'goods' ? 'goods' : 'webhooks';
    const result = await replay(`http://127.0.0.1:${port}/${path}`, fixture, { secret });
    results.push(result);
    if (showAll) console.log(tableRow(result));
  }
  await Promise.all([receiver.close({ server }), goods.close()]);

  const surprises = results.filter(({ asExpected }) => asExpected === false);
  const good = results.length - surprises.length;
  console.log(
    `${showAll ? '\n' : ''}${good} of ${results.length} saved deliveries answered as expected.`,
  );
  if (surprises.length > 0)
    console.log(['Not as expected:', ...surprises.map(tableRow)].join('\n'));
  return surprises.length === 0;
}

const TABLE_HEAD = `  ${[
  cell('EVENT', 20),
  cell('ID', 8),
  cell('SIGNATURE', 9),
  cell('OUTCOME', 9),
  'STATUS',
  'MS'.padStart(6),
  'DESCRIPTION',
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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seeded } from '../../../../src/sandbox/random.js';
import { openJournal } from '../../../../src/sandbox/state/journal.js';
import type { KeptOrder, KeptWebhookLog } from '../../../../src/sandbox/state/kinds.js';
import { type Listener, startListener } from '../../../sandbox/webhooks/listener.js';
import { openShop } from '../../../sandbox/webhooks/shop.js';
import { compileProgram } from '../../../support/program.js';

const SELL = 'test/sandbox/webhooks/inside/sell.ts';

let folder: string;
let file: string;
let listener: Listener;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  file = join(folder, 'shop.db');
  listener = await startListener();
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await listener.close();
  rmSync(folder, { recursive: true });
});

/** Runs a process that sells, and kills it after a number of lines. */
async function sellUntil(line: string, times: number, clock: string, orders: number) {
  const script = await compileProgram(SELL, 'sources');
  const args = [script, file, listener.url, clock, `${orders}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const ended = once(child, 'close');
  let seen = 0;
  for await (const written of createInterface(child.stdout)) {
    if (written === line) seen += 1;
    if (seen === times) break;
  }
  child.kill('SIGKILL');
  await ended;
  children.delete(child);
  expect(seen, `${line}, and then killed`).toBe(times);
}

function kept(name: string): unknown[] {
  const journal = openJournal(file);
  const records = journal?.load('sk_test_shop') ?? [];
  journal?.close();
  return records.filter(({ kind }) => kind === name).map(({ value }) => value);
}
const keptLogs = () => kept('webhook_logs') as KeptWebhookLog[];
const keptOrders = () => (kept('orders') as KeptOrder[]).map(({ id }) => id);

test('[spec: Webhook log] a retry that was due when the sandbox was killed is sent by the next one', async () => {
  listener.answer(503);
  await sellUntil('done', 1, 'manual', 1);
  const due = keptLogs();
  expect(due.map(({ event, next_retry_at }) => [event, next_retry_at])).toEqual([
    ['order:created', '2026-11-20T10:00:10.000000+00:00'],
    ['order:paid', '2026-11-20T10:00:10.000000+00:00'],
  ]);
  expect(listener.events()).toEqual(['order:created', 'order:paid']);
  const [created, paid] = listener.came.splice(0);

  listener.answer(200);
  await sellUntil('done', 1, 'fast', 1);
  expect(listener.came.map(({ id, body }) => [id, body])).toEqual([
    [created?.id, created?.body],
    [paid?.id, paid?.body],
  ]);
  expect(keptLogs()).toMatchObject(
    due.map(({ id }) => ({ id, response_code: 200, retries: 1, next_retry_at: null })),
  );
});

test('a sandbox that is killed repeatedly sends every webhook, and none that it did not save', async () => {
  const random = seeded(7);
  // Some fail, but none so often that it is given up.
  listener.answer(({ id }) => {
    const isOften = listener.came.filter((came) => came.id === id).length > 4;
    if (isOften || random() > 0.4) return 200;
    return random() < 0.5 ? 'reset' : 503;
  });
  const KILLS = 4;
  for (let kill = 0; kill < KILLS; kill++) {
    await sellUntil('sold', 20, 'fast', Number.POSITIVE_INFINITY);
    const logged = new Set(keptLogs().map(({ id }) => id));
    for (const { id } of listener.came) expect(logged).toContain(id);
  }
  await sellUntil('done', 1, 'fast', 0);

  const logs = keptLogs();
  const created = logs.filter(({ event }) => event === 'order:created');
  expect(created.length).toBeGreaterThanOrEqual(KILLS * 20);
  expect(created.map(({ payload }) => payload.id)).toEqual(keptOrders());
  for (const log of logs) {
    const sent = listener.came.filter(({ id }) => id === log.id);
    expect(log).toMatchObject({ response_code: 200, next_retry_at: null });
    expect(sent.length).toBeGreaterThan(log.retries);
    // A webhook that was being sent at a kill was sent once more, each time.
    expect(sent.length).toBeLessThanOrEqual(1 + log.retries + KILLS);
    for (const { body } of sent) expect(body.toString()).toBe(JSON.stringify(log.payload));
  }
}, 180_000);

test('a webhook that is being sent when a sandbox is closed counts as not sent', async () => {
  const open = () => {
    const journal = openJournal(file);
    if (!journal) throw new Error('There is no SQLite.');
    const shop = openShop({ journal });
    return { shop, close: () => shop.close().then(() => journal.close()) };
  };
  const first = open();
  first.shop.subscribe(listener.url);
  listener.answer('hang');
  first.shop.order();
  first.shop.order();
  await expect.poll(() => listener.came.length, { timeout: 20_000 }).toBe(1);
  await first.close();
  expect(keptLogs()).toMatchObject([
    { response_code: 0, response: null, retries: 0 },
    { response_code: 0, response: null, retries: 0 },
  ]);

  listener.answer(200);
  const second = open();
  await second.shop.idle();
  const [hung, ...sent] = listener.came.map(({ id }) => id);
  expect(sent).toEqual(second.shop.logs().map(({ id }) => id));
  expect(sent[0]).toBe(hung);
  await second.close();
});

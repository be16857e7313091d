import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient } from 'storefront-webhooks/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TUNER } from '../../../sandbox/seller.js';
import { compileProgram } from '../../../support/program.js';

let folder = '';
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
});
afterEach(async () => {
  await kill();
  rmSync(folder, { recursive: true });
});

async function kill() {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Starts the sandbox, or restarts it with its data. */
async function start(): Promise<{ url: string; client: Client }> {
  const script = await compileProgram('test/sandbox/journal/shop.ts', 'sources');
  child = spawn(process.execPath, [script, join(folder, 'shop.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('There is no stdout.');
  const [url] = await once(createInterface(child.stdout), 'line');
  const client = createClient({ baseUrl: url, auth: { accessToken: 'sk_test_kill' }, retries: 0 });
  return { url, client };
}

async function post(
  url: string,
  path: string,
  form = '',
): Promise<{ id: string; delivered: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk_test_kill',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: form,
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
  return JSON.parse(await response.text());
}

const KILLS = 10;

test('a sandbox that is killed during a hundred orders keeps each order, and gives out no serial twice', {
  timeout: 300_000,
}, async () => {
  const serials = Array.from({ length: 100 }, (_, at) => `S-${at}`);
  const begun = await start();
  const { id } = await begun.client.products.create({ ...TUNER, info: serials.join(';') });
  const answered = new Set<string>();
  const paid = new Map<string, string>();

  let { url, client } = begun;
  // Kill the sandbox while eight customers send requests, again and again, until everything is sold.
  for (let kills = 0; ; kills++) {
    const customer = async () => {
      for (;;) {
        const order = await post(url, '/sandbox/orders', `product_id=${id}&gateway=paypal`);
        answered.add(order.id);
        const { delivered } = await post(url, `/sandbox/orders/${order.id}/pay`);
        paid.set(order.id, delivered);
      }
    };
    const customers = Array.from({ length: 8 }, () => customer().catch(() => undefined));
    let isSoldOut = false;
    const ended = Promise.all(customers).then(() => {
      isSoldOut = true;
    });
    if (kills < KILLS) {
      const enough = answered.size + 7;
      while (answered.size < enough && !isSoldOut) await setTimeout(1);
      await kill();
    }
    await ended;
    if (kills >= KILLS) break;
    ({ url, client } = await start());
  }

  const orders = [];
  for await (const order of client.orders.list({ perPage: 50 })) orders.push(order);
  const kept = new Map(orders.map((order) => [order.id, order]));
  // All answered orders exist. An order whose answer was lost exists or was never created.
  for (const order of answered) expect(kept.has(order), order).toBe(true);
  for (const [order, delivered] of paid) {
    expect(kept.get(order)).toMatchObject({ status: 100, delivered });
  }
  expect(orders).toHaveLength(100);
  // Undelivered orders have a reserved serial: all customers pay, and each serial is given out once.
  for (const { id: order, status } of orders) {
    if (status !== 100)
      await post(url, `/sandbox/orders/${order}/${status === 55 ? 'confirm' : 'pay'}`);
  }
  const delivered = [];
  for await (const order of client.orders.list({ perPage: 50 })) delivered.push(order.delivered);
  expect(delivered.toSorted()).toEqual(serials.toSorted());
  expect((await client.products.get(id)).stock).toBe(0);
});

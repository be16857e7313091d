import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startWrangler } from '../../cloudflare/wrangler.js';
import { WEBHOOK_SECRET } from '../../examples/shop.js';
import { installed, withRuntimes } from '../../runtimes/installed.js';
import { makeProject, type Project } from '../../runtimes/project.js';
import type { Started } from '../../support/start.js';

const ADMIN_SECRET = 'another secret for tests';
const WAIT = { timeout: 15_000, interval: 50 };
const paid = JSON.parse(Buffer.from(loadFixture('order:paid').body).toString());
const product: string = paid.product_id;

withRuntimes('the example for Cloudflare', () => {
  let project: Project;
  let folder: string;
  let shop: Started;

  const wrangler = async (...args: string[]) => {
    const command = [installed('wrangler/bin/wrangler.js'), ...args];
    const env = { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false' };
    const run = promisify(execFile)(installed('node22/bin/node'), command, { cwd: folder, env });
    return (await run).stdout;
  };

  beforeAll(async () => {
    project = await makeProject('cloudflare');
    folder = `${project.folder}/cloudflare`;
    await cp('examples/cloudflare', folder, { recursive: true });
    // A delivery that fails is dead at once, instead of hours later.
    const settings = await readFile(`${folder}/wrangler.jsonc`, 'utf8');
    expect(settings).toContain('"max_retries": 10,');
    await writeFile(
      `${folder}/wrangler.jsonc`,
      settings
        .replace('"max_retries": 10,', '"max_retries": 0,')
        .replace('"main": "index.ts"', '"main": "faulty-cloudflare.ts"'),
    );
    const faulty = await readFile('test/full/examples/faulty-cloudflare.ts', 'utf8');
    await writeFile(
      `${folder}/faulty-cloudflare.ts`,
      faulty.replace('../../../examples/cloudflare/', './'),
    );
    const state = `${folder}/.wrangler/state`;
    await wrangler('d1', 'migrations', 'apply', 'shop', '--local', '--persist-to', state);
    shop = await startWrangler(folder, { vars: { WEBHOOK_SECRET, ADMIN_SECRET }, state });
    await restock(10);
  }, 120_000);
  afterAll(async () => {
    await shop?.stop();
    await project?.remove();
  });

  async function deliver(id: string, changes: object, secret = WEBHOOK_SECRET): Promise<string> {
    const body = JSON.stringify({ ...paid, ...changes });
    const response = await fetch(`${shop.origin}/webhooks`, {
      method: 'POST',
      headers: {
        'x-service-event': 'order:paid',
        'x-service-webhook': id,
        'x-service-signature': sign(Buffer.from(body), secret),
      },
      body,
    });
    const { outcome } = (await response.json()) as { outcome: string };
    return `${response.status} ${outcome}`;
  }

  const ask = async <Answer>(
    path: string,
    method = 'GET',
    json?: unknown,
    secret = ADMIN_SECRET,
  ) => {
    const response = await fetch(shop.origin + path, {
      method,
      headers: { authorization: `Bearer ${secret}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return response.ok ? ((await response.json()) as Answer) : response.status;
  };
  const restock = (pieces: number) => ask('/stock', 'PUT', { product, pieces });
  const stockOf = (pieces: number) =>
    vi.waitFor(async () => expect(await ask('/stock')).toEqual([{ product, pieces }]), WAIT);

  test('an order moves the stock once, after any number of retries', async () => {
    const order = { id: 'ord_1', quantity: 2 };
    expect(await deliver('one', order)).toBe('200 queued');
    expect(await deliver('one', order)).toBe('200 queued');
    expect(await deliver('the same order again', order)).toBe('200 queued');
    expect(await deliver('forged', { id: 'ord_2' }, 'another secret')).toBe('401 rejected');
    // Send this delivery last: when it is processed, all earlier ones are, too.
    expect(await deliver('last', { id: 'ord_3', quantity: 1 })).toBe('200 queued');
    await stockOf(7);
    await vi.waitFor(() => expect(shop.output()).toMatch(/Sold order ord_3/), WAIT);
    expect(shop.output().match(/Sold order ord_1/g)).toHaveLength(1);
  });

  test('an order that is too large for a message of the queue is delivered', async () => {
    const email = `${'x'.repeat(500_000)}@example.com`;
    expect(await deliver('large', { id: 'ord_4', quantity: 1, email })).toBe('200 queued');
    await stockOf(6);
  });

  test('an order for more than the stock is shown to authorised users, and can be redriven', async () => {
    expect(await deliver('too many', { id: 'ord_5', quantity: 8 })).toBe('200 queued');
    await vi.waitFor(async () => {
      const error = expect.stringContaining('CHECK constraint failed');
      expect(await ask('/dead')).toEqual([
        { id: 'too many', event: 'order:paid', state: 'dead', error },
      ]);
    }, WAIT);
    await stockOf(6);
    for (const secret of ['', 'undefined', WEBHOOK_SECRET])
      expect(await ask('/dead', 'POST', undefined, secret)).toBe(401);

    await restock(100);
    expect(await ask('/dead', 'POST')).toMatchObject([{ outcome: 'queued' }]);
    await stockOf(92);
    expect(await ask('/dead')).toEqual([]);
  });

  test('orders that do not get back into the queue are still shown, and can be redriven', async () => {
    expect(await deliver('no queue', { id: 'ord_6', quantity: 93 })).toBe('200 queued');
    expect(await deliver('nor here', { id: 'ord_8', quantity: 94 })).toBe('200 queued');
    const dead = { state: 'dead', error: expect.stringContaining('pieces >= 0') };
    await vi.waitFor(async () => {
      expect(await ask('/dead')).toMatchObject([dead, dead]);
    }, WAIT);
    expect(await ask('/dead?queue=down', 'POST')).toMatchObject([{ outcome: 'unavailable' }]);
    expect(await ask('/dead')).toMatchObject([dead]);
    await ask('/age', 'POST');
    expect(await ask('/dead')).toMatchObject([dead, { event: 'order:paid', state: 'stalled' }]);

    await restock(200);
    const queued = { outcome: 'queued' };
    expect(await ask('/dead', 'POST')).toMatchObject([queued, queued]);
    await stockOf(13);
    expect(await ask('/dead')).toEqual([]);
  });

  test('an order whose quantity is unreadable moves no stock, and is shown', async () => {
    await restock(92);
    expect(await deliver('odd', { id: 'ord_7', quantity: 'two' })).toBe('200 queued');
    await vi.waitFor(async () => {
      const error = expect.stringContaining('no quantity that is a positive number');
      expect(await ask('/dead')).toEqual([
        { id: 'odd', event: 'order:paid', state: 'dead', error },
      ]);
    }, WAIT);
    await stockOf(92);
  });

  test('wrangler can deploy it with all of its bindings', async () => {
    const output = await wrangler(
      'deploy',
      'index.ts',
      '--dry-run',
      '--outdir',
      `${folder}/.wrangler/out`,
    );
    for (const binding of ['WEBHOOKS', 'BODIES', 'DELIVERIES', 'DB'])
      expect(output).toContain(`env.${binding}`);
  });
});

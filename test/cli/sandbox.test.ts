import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver, isPaid } from 'storefront-webhooks';
import { createClient } from 'storefront-webhooks/api';
import { toNodeHandler } from 'storefront-webhooks/node';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { chooseUnknowns } from '../../src/sandbox/unknowns.js';
import { asShown, begin, run } from './command.js';

/** Serves the sandbox on a free port until the test ends. */
async function serve(...flags: string[]) {
  const sandbox = begin(['sandbox', '--port', '0', ...flags]);
  const [, origin = ''] = await sandbox.says(/"url":"([^"]+)"/);
  return Object.assign(sandbox, { origin });
}

/** Buys a product and pays for it. */
async function buy(origin: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { authorization: 'Bearer sk_test_demo', 'content-type': 'application/json' };
    const response = await fetch(origin + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return z.object({ id: z.string() }).parse(await response.json());
  };
  const product = await post('/api/v2/products', {
    title: 'First product',
    description: 'The first.',
    product_type: 'serials',
    price: '9.90',
    currency: 'EUR',
    gateways: ['paypal'],
    info: 'AAAA-1111,BBBB-2222,CCCC-3333',
  });
  const order = await post('/sandbox/orders', { product_id: product.id });
  await post(`/sandbox/orders/${order.id}/pay`, {});
}

/** Finds a port that no server listens on. */
async function freePort(): Promise<number> {
  const none = createServer().listen(0, '127.0.0.1');
  await once(none, 'listening');
  const { port } = none.address() as AddressInfo;
  none.close();
  return port;
}

const textOf = async ({ origin }: { origin: string }) =>
  (await fetch(`${origin}/shop/demo`)).text();

describe('storefront-webhooks sandbox', () => {
  test('serves the storefront, prints how to open it, and ends on SIGTERM', async () => {
    const sandbox = await serve();
    try {
      const headers = { authorization: 'Bearer sk_test_demo' };
      const response = await fetch(`${sandbox.origin}/api/v2/products`, { headers });
      expect([response.status, await response.json()]).toEqual([200, []]);
      for (const told of ['sk_test_demo', 'whsec_sk_test_demo', '/openapi.json', '/shop/demo'])
        expect(sandbox.output()).toContain(told);
      sandbox.interrupt();
      expect((await sandbox.ended).status).toBe(0);
    } finally {
    }
  });

  const [older = 0] = Array.from({ length: 100 }, (_, at) => at).filter(
    (at) => chooseUnknowns({}, at).credentials === 'by-variant',
  );
  const OLDER = ['--variant', 'older', '--unknowns', 'vary', '--seed', `${older}`];

  test('sends the webhooks of its account to --endpoint, which it creates once', async () => {
    const outcomes: string[] = [];
    const receiver = createReceiver({
      secret: 'whsec_sk_test_demo',
      hooks: { onOutcome: ({ outcome, event }) => outcomes.push(`${event} ${outcome}`) },
    }).on(['order:paid', 'order:updated'], () => {}, { name: 'deliver', when: isPaid });
    const shop = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    const { port } = shop.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    const endpoint = `http://127.0.0.1:${port}/webhooks`;
    const args = ['--db', join(folder, 'shop.db'), '--endpoint', endpoint];
    const auth = { accessToken: 'sk_test_demo' };
    try {
      for (const _ of [1, 2]) {
        const sandbox = await serve(...args);
        try {
          expect(sandbox.output()).toContain(endpoint);
          const client = createClient({ baseUrl: sandbox.origin, auth });
          expect(await client.webhookEndpoints.list()).toMatchObject({
            items: [{ url: endpoint }],
          });
          await buy(sandbox.origin);
          await vi.waitFor(() => expect(outcomes).toContain('order:paid handled'));
          outcomes.length = 0;
          sandbox.interrupt();
          expect((await sandbox.ended).status).toBe(0);
        } finally {
        }
      }
    } finally {
      shop.close();
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ['localhost:3000/webhooks', 'http://localhost:3000/webhooks'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['[::1]:3000/in', 'http://[::1]:3000/in'],
    ['https://shop.example/in', 'https://shop.example/in'],
  ])('reads --endpoint %s as %s', async (given, endpoint) => {
    const sandbox = await serve('--endpoint', given);
    const auth = { accessToken: 'sk_test_demo' };
    const client = createClient({ baseUrl: sandbox.origin, auth });
    expect((await client.webhookEndpoints.list()).items).toMatchObject([{ url: endpoint }]);
    expect(JSON.parse(sandbox.output().trim())).toMatchObject({ endpoint });
  });

  test('accepts --endpoint in the older variant, whose account may need basic authentication', async () => {
    const endpoint = 'http://localhost:3000/webhooks';
    const sandbox = await serve(...OLDER, '--endpoint', endpoint);
    expect(JSON.parse(sandbox.output().trim())).toMatchObject({ endpoint });
  });

  test('exits if --endpoint is rejected', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    const db = join(folder, 'shop.db');
    const before = createSandbox({ db });
    before.account('sk_test_demo').set({ read_only: true });
    await before.close();
    const port = await freePort();
    const endpoint = 'http://localhost:3000/webhooks';
    const args = ['--port', `${port}`, '--db', db, '--endpoint', endpoint];
    const { status, stdout } = await run(['sandbox', ...args]);
    expect([status, stdout]).toEqual([1, '']);
    await expect(fetch(`http://127.0.0.1:${port}/openapi.json`)).rejects.toThrow();
    rmSync(folder, { recursive: true });
  });

  test('reports the answer to each webhook, and the time of its retry', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}/webhooks`;
    const args = ['--endpoint', endpoint];
    const sandbox = await serve(...args);
    try {
      await buy(sandbox.origin);
      await vi.waitFor(() => expect(sandbox.output()).toContain('"event":"order:paid"'));
      const [, ...attempts] = sandbox.output().trim().split('\n');
      expect(attempts.map((line) => JSON.parse(line))).toContainEqual({
        ...{ account: 'sk_test_demo', event: 'order:paid', url: endpoint, status: 0 },
        ...{ time: expect.any(String), id: expect.any(String), recordId: expect.any(String) },
        ...{ answer: expect.stringContaining('ECONNREFUSED'), retryAt: expect.any(String) },
      });
    } finally {
    }
  });

  test('reports each answer in a readable line in a terminal', async () => {
    const shop = createServer((request, response) =>
      request.resume().on('end', () => response.writeHead(500).end('no keys left')),
    );
    await once(shop.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/webhooks`;
    const args = ['sandbox', '--port', '0', '--endpoint', endpoint];
    const sandbox = begin(args, {}, { columns: 80 });
    const [, origin = ''] = await sandbox.says(/(http:\/\/127\.0\.0\.1:\d+)[\s\S]*Try:/);
    await buy(origin);
    await sandbox.says(/order:paid.*again at/);
    sandbox.interrupt();
    shop.close();
    const { lines } = asShown(await sandbox.ended);
    const told = lines.filter((line) => line.includes('order:paid'));
    expect(told.every(({ length }) => length <= 80)).toBe(true);
    expect(told).toEqual([
      expect.stringMatching(/^✗ {2}order:paid {6}ord_\w+ {2}500 {8}again at \d\d:\d\d:\d\d$/),
    ]);
  });

  test('fills the shop by --seed-shop, once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
    const args = ['--db', join(folder, 'shop.db'), '--seed-shop'];
    for (const told of ['/shop/demo', 'exists already and was not changed']) {
      const sandbox = await serve(...args);
      try {
        expect(await textOf(sandbox)).toContain('Halden Reverb');
        expect(sandbox.output()).toContain(told);
        sandbox.interrupt();
        expect((await sandbox.ended).status).toBe(0);
      } finally {
      }
    }
    rmSync(folder, { recursive: true });
  });

  test('reports in one line that its port is in use, and exits with 1', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { status, stdout, stderr } = await run(['sandbox', '--port', String(port)]);
    other.close();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('the port is in use')]);
  });

  test('warns about a secret on the command line', async () => {
    const args = ['--webhook-secret', 'a-secret'];
    const sandbox = await serve(...args);
    expect(sandbox.output()).toContain('is on the command line');
  });
});

describe('a command', () => {
  test.each([
    [['sandbox', '--prot', '1'], 'Did you mean --port?'],
    [['sandbox', '--port', 'x'], 'whole number'],
    [['sandbox', '--variant', 'newest'], 'Allowed choices are newer, older'],
    [['sandbx'], 'Did you mean sandbox?'],
    [['sandbox', '--endpoint', '3000'], 'such as http://localhost:3000/webhooks'],
    [['sandbox', '--endpoint', '/webhooks'], 'such as http://localhost:3000/webhooks'],
    [['sandbox', '--endpoint', 'example.com/hook'], 'such as http://localhost:3000/webhooks'],
    [['sandbox', '--endpoint', 'http://'], 'such as http://localhost:3000/webhooks'],
    [['sandbox', '--endpoint', 'ftp://x'], 'begin with https://'],
    [['sandbox', '--endpoint', 'http://example.com/hook'], 'to another machine need HTTPS'],
    [['sandbox', '--endpoint', 'http://a:b@localhost/hook'], 'a user name or a password'],
    [['sandbox', '--seed', '5'], '--seed does nothing without --unknowns vary'],
  ])(
    'that is used wrongly reports the mistake on stderr, and exits with 2: %j',
    async (args, hint) => {
      const { status, stdout, stderr } = await run(args);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(hint);
      expect(stderr).toContain(args.find((arg) => arg.startsWith('--')) ?? '');
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );

  test('prints a help with an example to stdout', async () => {
    const { status, stdout, stderr } = await run(['sandbox', '--help']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Example:');
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openSqlite } from '../../src/sandbox/state/sqlite.js';
import { useSandboxFile } from '../support/sandbox-file.js';
import { begin, run, serve } from './command.js';

const file = useSandboxFile();

const KEY = 'sk_test_demo';

/** Runs the command on the database, and returns what it prints and what is so. */
async function restart(...flags: string[]) {
  const command = begin(['sandbox', '--port', '0', '--db', file.db, '--clock', 'manual', ...flags]);
  const [, line = ''] = await command.says(/^(\{"url".*\})$/m);
  const told: { url: string; secret: string } = JSON.parse(line);
  const headers = { authorization: `Bearer ${KEY}` };
  const response = await fetch(`${told.url}/sandbox/settings`, { headers });
  const settings = z.object({ webhook_secret: z.string() }).parse(await response.json());
  const client = createClient({ baseUrl: told.url, auth: { accessToken: KEY } });
  const { items: endpoints } = await client.webhookEndpoints.list();
  command.interrupt();
  await command.ended;
  return { printed: told.secret, signing: settings.webhook_secret, endpoints };
}

/** Changes the account while the command does not run. */
async function change(work: (sandbox: ReturnType<typeof createSandbox>) => unknown): Promise<void> {
  const sandbox = createSandbox({ db: file.db, clock: 'manual' });
  await work(sandbox);
  await sandbox.close();
}

describe('a restarted sandbox prints the secret that signs', () => {
  test('after its clock was moved: the one of the flag', async () => {
    await change((sandbox) => sandbox.account(KEY).clock.advance(60_000));
    const { printed, signing } = await restart('--webhook-secret', 'chosen');
    expect([printed, signing]).toEqual(['chosen', 'chosen']);
  });

  test('after another one was set: the one of the flag', async () => {
    await change((sandbox) => sandbox.account(KEY).set({ webhook_secret: 'earlier' }));
    const { printed, signing } = await restart('--webhook-secret', 'chosen');
    expect([printed, signing]).toEqual(['chosen', 'chosen']);
  });

  test('after another one was set, without the flag: that one', async () => {
    await change((sandbox) => sandbox.account(KEY).set({ webhook_secret: 'earlier' }));
    const { printed, signing } = await restart();
    expect([printed, signing]).toEqual(['earlier', 'earlier']);
  });
});

describe('a restarted sandbox sends to its --endpoint', () => {
  const url = 'http://localhost:3000/webhooks';
  const create = () =>
    change(async (sandbox) => {
      const { fetch } = sandbox;
      const auth = { accessToken: KEY };
      const { webhookEndpoints } = createClient({ baseUrl: 'http://localhost', auth, fetch });
      await webhookEndpoints.create({ url, events: ['feedback:created'] });
    });

  test('again if it was disabled, with the same events', async () => {
    await create();
    disable();
    const { endpoints } = await restart('--endpoint', url);
    expect(endpoints).toMatchObject([{ url, enabled: true, events: ['feedback:created'] }]);
  });

  test('as before if it is enabled', async () => {
    await create();
    const [first] = (await restart()).endpoints;
    const { endpoints } = await restart('--endpoint', url);
    expect(endpoints).toEqual([first]);
  });
});

test('a sandbox whose port is in use ends, and sends no more webhooks', async () => {
  let count = 0;
  const { server, url } = await serve(
    createServer((_, response) => {
      count += 1;
      response.writeHead(500).end();
    }),
  );
  await change(async (sandbox) => {
    const account = sandbox.account(KEY);
    await account.seed();
    const client = createClient({
      baseUrl: 'http://localhost',
      auth: { accessToken: KEY },
      fetch: sandbox.fetch,
    });
    await client.webhookEndpoints.create({ url, events: ['order:created'] });
    const { items } = await client.products.list();
    await account.buy({ product_id: `${items[0]?.id}` });
    await sandbox.idle();
  });
  expect(count).toBe(1);
  const { port } = server.address() as AddressInfo;
  // A fast clock makes the retries at once.
  const flags = ['--db', file.db, '--clock', 'fast'];
  const { status, stderr } = await run(['sandbox', '--port', `${port}`, ...flags]);
  expect([status, stderr]).toEqual([1, expect.stringContaining('the port is in use')]);
  await sleep(200);
  // A request that was on its way may still arrive.
  expect(count).toBeLessThanOrEqual(2);
});

/** Disables the endpoint in the file, as the sandbox does after a day of failures. */
function disable(): void {
  const connection = openSqlite(file.db);
  connection?.exec(
    "UPDATE records SET value = json_set(value, '$.enabled', json('false')) WHERE kind = 'webhook_endpoints'",
  );
  connection?.close();
}

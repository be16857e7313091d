import { createClient } from 'storefront-webhooks/api';
import { createSandbox } from 'storefront-webhooks/sandbox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { blocks, pageAt } from './pages.js';

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

/** Runs the only example of a page that contains a text, with values for its names. */
async function runExample(path: string, text: string, names: Record<string, unknown>) {
  const [example = '', ...others] = blocks(pageAt(path), 'ts').filter((code) =>
    code.includes(text),
  );
  expect([example === '', others]).toEqual([false, []]);
  const body = example.replaceAll(/^import .*$/gm, '');
  await new AsyncFunction(...Object.keys(names), body)(...Object.values(names));
}

test('the server of the move from octokit passes on all requests but those for the webhook', async () => {
  const [createServer, webhooks, app] = [vi.fn(), vi.fn(), vi.fn()];
  const names = { createServer, toNodeHandler: () => webhooks, receiver: {}, app };
  await runExample('docs/migrate.md', 'createServer((request, response)', names);
  const handle = createServer.mock.calls[0]?.[0];
  for (const url of ['/api/github/webhooks', '/api/github/webhooks?shop=7']) handle({ url }, {});
  expect([webhooks.mock.calls.length, app.mock.calls.length]).toEqual([2, 0]);
  for (const url of ['/', '/orders?next=/api/github/webhooks']) handle({ url }, {});
  expect([webhooks.mock.calls.length, app.mock.calls.length]).toEqual([2, 2]);
});

test('the client adds an event to the endpoint of the start', async () => {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.close());
  const options = {
    baseUrl: 'http://localhost',
    auth: { accessToken: sandbox.account('sk_test_docs').key },
    fetch: sandbox.fetch,
  };
  const open = () => createClient(options);
  await runExample('docs/start.md', 'webhookEndpoints.create', { createClient: open });
  const client = open();
  const find = async () => (await client.webhookEndpoints.list()).items[0];
  const { id = '', events: registered = [] } = (await find()) ?? {};
  const { get, update } = client.webhookEndpoints;
  const webhookEndpoints = {
    get: () => get(id),
    update: (_id: string, changes: Parameters<typeof update>[1]) => update(id, changes),
  };
  await runExample('docs/client.md', 'webhookEndpoints.get(', { client: { webhookEndpoints } });
  expect((await find())?.events).toEqual([...registered, 'product:out_of_stock']);
});

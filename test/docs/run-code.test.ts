import { expect, test, vi } from 'vitest';
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

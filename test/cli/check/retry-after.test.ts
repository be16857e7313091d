import { createServer } from 'node:http';
import { loadFixture } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { createOrders, draft } from '../../../src/cli/check/orders.js';
import { ONCE, Trial } from '../../../src/cli/check/trial.js';
import { SECRET, serve } from '../command.js';

test('a delivery is sent again after 2 s, even if Retry-After asks for an hour', async () => {
  let came = 0;
  const { url } = await serve(
    createServer((request, response) => {
      request.resume();
      came += 1;
      response.writeHead(came === 1 ? 503 : 200, { 'retry-after': '3600' }).end();
    }),
  );
  const row = { name: 'retried', title: '', goods: ONCE, run: async () => {} };
  const trial = new Trial(row, {
    ...{ url: new URL(url), secret: SECRET, headerPrefix: 'X-Service-', restart: undefined },
    ...{ orders: createOrders(loadFixture('order:paid')), took: [] },
    ...{ timeoutMs: 10_000, endlessMs: 0, signal: new AbortController().signal },
  });
  await trial.take(draft('order:paid', '{"id":"ord_1"}'));
  expect([trial.answers, trial.complaints]).toEqual([[503, 200], []]);
});

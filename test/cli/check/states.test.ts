import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { loadFixture } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { createOrders } from '../../../src/cli/check/orders.js';
import { states } from '../../../src/cli/check/rows/states.js';
import { Trial } from '../../../src/cli/check/trial.js';
import { SECRET, serve } from '../command.js';

test.each([
  ['reordered', ['order:updated 54', 'order:paid 100', 'order:created 0']],
  ['refunded', ['order:paid 100', 'order:updated 56', 'order:paid 100']],
  ['unpaid', ['order:created 0', ...[51, 52, 53, 54, 55, 56].map((at) => `order:updated ${at}`)]],
  ['forged-event', ['order:paid 0', 'order:paid 54', 'order:paid 56']],
])('the row %s sends these states of one order: %j', async (name, expected) => {
  const sent: string[] = [];
  const ids = new Set<unknown>();
  const { url } = await serve(
    createServer(async (request, response) => {
      const { id, status } = Object(await json(request));
      ids.add(id);
      sent.push(`${request.headers['x-service-event']} ${status}`);
      response.end();
    }),
  );
  const row = states.find((one) => one.name === name);
  if (!row) throw new Error(`There is no row ${name}.`);
  const trial = new Trial(row, {
    ...{ url: new URL(url), secret: SECRET, headerPrefix: 'X-Service-', restart: undefined },
    ...{ orders: createOrders(loadFixture('order:paid')), took: [] },
    ...{ timeoutMs: 10_000, endlessMs: 0, signal: new AbortController().signal },
  });
  await row.run(trial);
  expect(sent).toEqual(expected);
  expect([...ids]).toEqual(trial.orders.map(({ id }) => id));
});

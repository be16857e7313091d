import fastify from 'fastify';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toFastify } from 'storefront-webhooks/fastify';
import { expect, test } from 'vitest';
import { SECRET } from './apps/inside/contract.js';
import { HANDLED, orderOf, webhook, withoutCode } from './corpus.js';

const payload = orderOf(1_000);
const signed = Object.fromEntries(webhook(payload, 'whl_1'));

function setUp(options = {}) {
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', () => {});
  const app = fastify(options);
  app.register(toFastify(receiver), { prefix: '/webhooks' });
  app.post('/json', (request, reply) => reply.send(request.body));
  return app;
}

test('the plugin answers inject() at once, as users of Fastify test their routes', async () => {
  const response = await setUp().inject({
    method: 'POST',
    url: '/webhooks',
    headers: signed,
    payload,
  });
  expect([response.statusCode, withoutCode(response.body)]).toEqual([200, HANDLED.body]);
  // The connection is not closed, unlike after an early rejection.
  expect(response.headers.connection).toBe('keep-alive');
});

test.each(['', ';;;', 'json', 'application/', 'application/json, application/json', 'text/plain'])(
  'the plugin handles a delivery with the content type %j',
  async (type) => {
    const headers = { ...signed, 'Content-Type': type };
    const response = await setUp().inject({ method: 'POST', url: '/webhooks', headers, payload });
    expect([response.statusCode, withoutCode(response.body)]).toEqual([200, HANDLED.body]);
  },
);

test('the plugin keeps its parser, limits and types to itself', async () => {
  const app = setUp({ bodyLimit: 100 });
  const post = (url: string, headers: Record<string, string | number>, body: string | Buffer) =>
    app.inject({ method: 'POST', url, headers, payload: body });
  expect((await post('/webhooks', signed, payload)).statusCode).toBe(200);
  expect((await post('/json', { 'content-type': 'application/json' }, '[1]')).json()).toEqual([1]);
  expect((await post('/json', { 'content-type': 'text/html' }, '[1]')).statusCode).toBe(415);
  expect((await post('/json', { 'content-type': 'application/json' }, payload)).statusCode).toBe(
    413,
  );
});

test('the plugin passes its answers to the application’s hooks', async () => {
  const app = setUp();
  const seen: unknown[] = [];
  app.addHook('onSend', async (_request, reply, body) => {
    seen.push([reply.statusCode, withoutCode(`${body}`)]);
    return body;
  });
  await app.inject({ method: 'POST', url: '/webhooks', headers: signed, payload });
  expect(seen).toEqual([[200, HANDLED.body]]);
});

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

test('answers inject() at once, as Fastify’s users test their routes', async () => {
  const response = await setUp().inject({
    method: 'POST',
    url: '/webhooks',
    headers: signed,
    payload,
  });
  expect([response.statusCode, withoutCode(response.body)]).toEqual([200, HANDLED.body]);
  // And not closed, as after a body that was refused before it came.
  expect(response.headers.connection).toBe('keep-alive');
});

test.each(['', ';;;', 'json', 'application/', 'application/json, application/json', 'text/plain'])(
  'handles a delivery of the content type %j',
  async (type) => {
    const headers = { ...signed, 'Content-Type': type };
    const response = await setUp().inject({ method: 'POST', url: '/webhooks', headers, payload });
    expect([response.statusCode, withoutCode(response.body)]).toEqual([200, HANDLED.body]);
  },
);

test('keeps its parser, its limits and its types to itself', async () => {
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

test('has the application’s hooks see its answers', async () => {
  const app = setUp();
  const seen: unknown[] = [];
  app.addHook('onSend', async (_request, reply, body) => {
    seen.push([reply.statusCode, withoutCode(`${body}`)]);
    return body;
  });
  await app.inject({ method: 'POST', url: '/webhooks', headers: signed, payload });
  expect(seen).toEqual([[200, HANDLED.body]]);
});

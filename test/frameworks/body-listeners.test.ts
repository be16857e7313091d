import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
} from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { createReceiver, memoryStore, type Receiver } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { toFastify } from 'storefront-webhooks/fastify';
import { toKoa } from 'storefront-webhooks/koa';
import { toNodeHandler } from 'storefront-webhooks/node';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SECRET } from '../adapters/apps/inside/contract.js';
import { orderOf, webhook } from '../adapters/corpus.js';

/** Listens to the body of each request, as a body logger or `fastify-raw-body` does. */
type Listen = (body: Readable) => void;
type Mount = (receiver: Receiver, listen: Listen) => Promise<RequestListener> | RequestListener;

const MOUNTS: readonly (readonly [name: string, mount: Mount])[] = [
  [
    'toNodeHandler',
    (receiver, listen) => {
      const handle = toNodeHandler(receiver);
      return (incoming, response) => {
        listen(incoming);
        return handle(incoming, response);
      };
    },
  ],
  [
    'toExpress',
    (receiver, listen) =>
      express()
        .use((incoming, _, next) => {
          listen(incoming);
          next();
        })
        .post('/', toExpress(receiver)),
  ],
  [
    'toKoa',
    (receiver, listen) =>
      new Koa()
        .use((context, next) => {
          listen(context.req);
          return next();
        })
        .use(toKoa(receiver))
        .callback(),
  ],
  [
    'toFastify',
    async (receiver, listen) => {
      const app = fastify();
      app.addHook('preParsing', (_request, _reply, payload, done) => {
        listen(payload);
        done(null, payload);
      });
      app.register(toFastify(receiver));
      await app.ready();
      return (incoming, response) => app.routing(incoming, response);
    },
  ],
];

function setUp() {
  const hooks = { onError() {}, onRejected() {} };
  const options = { secret: SECRET, store: memoryStore(), hooks, limit: 2 * order.length };
  const handler = vi.fn();
  const heard: number[] = [];
  const listen: Listen = (body) => {
    let length = 0;
    body.on('data', (piece) => {
      length += piece.length;
    });
    body.on('end', () => heard.push(length));
    body.on('error', () => {});
  };
  return { receiver: createReceiver(options).on('*', handler), handler, heard, listen };
}

const order = orderOf(300_000);
const signed = Object.fromEntries(
  webhook(order, 'whl_1').map(([name, value]) => [name.toLowerCase(), String(value)]),
);

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return async function post(headers: Record<string, string>, body = order) {
    const sent = request({ port, host: '127.0.0.1', agent, method: 'POST', headers }).end(body);
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response) await text(response);
    return response?.statusCode;
  };
}

describe.each(MOUNTS)('%s, below another listener to the body,', (_, mount) => {
  test.each([
    ['with a Content-Length', { 'content-length': String(order.length) }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('handles a delivery %s, and the listener gets all of it', async (_how, framing) => {
    const { receiver, handler, heard, listen } = setUp();
    const post = await serve(await mount(receiver, listen));
    expect(await post({ ...signed, ...framing })).toBe(200);
    expect(handler).toHaveBeenCalledOnce();
    expect(heard).toEqual([order.length]);
  });

  test('leaves the body to the listener, and the connection open, if it rejects without reading', async () => {
    const { receiver, handler, heard, listen } = setUp();
    const post = await serve(await mount(receiver, listen));
    // Larger than the buffer of a stream, and small enough to arrive before the response.
    const unsigned = Buffer.alloc(60_000);
    const length = { 'content-length': String(unsigned.length) };
    expect(await post({ ...signed, ...length, 'x-service-signature': '' }, unsigned)).toBe(401);
    await vi.waitFor(() => expect(heard).toEqual([unsigned.length]));
    expect(await post({ ...signed, 'content-length': String(order.length) })).toBe(200);
    expect(handler).toHaveBeenCalledOnce();
  });
});

test('toNodeHandler handles a delivery over HTTP/2 below another listener to the body', async () => {
  const { receiver, heard, listen } = setUp();
  const handle = toNodeHandler(receiver);
  const server = createHttp2Server((incoming, response) => {
    listen(incoming);
    return handle(incoming, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ':method': 'POST', ':path': '/', ...signed });
  stream.end(order);
  const [headers] = await once(stream, 'response');
  await text(stream);
  expect(headers[':status']).toBe(200);
  expect(heard).toEqual([order.length]);
});

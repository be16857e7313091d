import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Elysia } from 'elysia';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import {
  createReceiver,
  memoryStore,
  type Receiver,
  type RejectionInfo,
} from 'storefront-webhooks';
import { toElysia } from 'storefront-webhooks/elysia';
import { toExpress } from 'storefront-webhooks/express';
import { toFastify } from 'storefront-webhooks/fastify';
import { toFetch } from 'storefront-webhooks/fetch';
import { toHono } from 'storefront-webhooks/hono';
import { toKoa } from 'storefront-webhooks/koa';
import { toLambda } from 'storefront-webhooks/lambda';
import { toNext } from 'storefront-webhooks/next';
import { toNextPages } from 'storefront-webhooks/next-pages';
import { toNodeHandler } from 'storefront-webhooks/node';
import { toWorker } from 'storefront-webhooks/workers';
import { describe, expect, test, vi } from 'vitest';
import { SECRET } from '../adapters/apps/inside/contract.js';
import { orderOf, webhook } from '../adapters/corpus.js';

const order = orderOf(1_000);
const whole = Object.fromEntries(
  [...webhook(order, 'whl_1'), ['Content-Length', order.length]].map(([name, value]) => [
    name,
    String(value),
  ]),
);

function setUp() {
  const rejected: RejectionInfo[] = [];
  const hooks = { onError() {}, onRejected: (info: RejectionInfo) => rejected.push(info) };
  const handler = vi.fn();
  const options = { secret: SECRET, store: memoryStore(), hooks };
  return { receiver: createReceiver(options).on('*', handler), rejected, handler };
}

type Post = (bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string>) => Promise<number>;

/** Passes the mount a request whose headers announce the whole order, and whose body holds the given bytes. */
type Mount = (receiver: Receiver) => Post;

type Fetch = (request: Request) => Response | Promise<Response>;

const byFetch = (fetch: Fetch): Post =>
  async function post(body, headers) {
    return (await fetch(new Request('http://localhost/', { method: 'POST', headers, body })))
      .status;
  };

/** A middleware leaves what it has read in `rawBody`. */
const byNode = (serve: (rawBody: Buffer) => Promise<RequestListener> | RequestListener): Post =>
  async function post(bytes, { 'Content-Length': announced, ...headers }) {
    const listener = await serve(Buffer.from(bytes));
    const server = createServer((request, response) => {
      // Node itself accepts only the length of the body.
      request.headers['content-length'] = announced;
      return listener(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/`;
      return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(order) })).status;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

const byLambda = (receiver: Receiver, encoding: 'base64' | 'utf8'): Post =>
  async function post(bytes, headers) {
    const body = Buffer.from(bytes).toString(encoding);
    const isBase64Encoded = encoding === 'base64';
    const event = { httpMethod: 'POST', path: '/', headers, body, isBase64Encoded };
    return (await toLambda(receiver)(event)).statusCode;
  };

const MOUNTS: readonly (readonly [name: string, mount: Mount])[] = [
  ['toFetch', (receiver) => byFetch(toFetch(receiver))],
  ['toNext', (receiver) => byFetch(toNext(receiver))],
  ['toHono', (receiver) => byFetch(new Hono().post('/', toHono(receiver)).fetch)],
  ['toWorker', (receiver) => byFetch((request) => toWorker(receiver).fetch(request, {}))],
  [
    'toElysia',
    (receiver) =>
      byFetch((request) =>
        new Elysia().post('/', toElysia(receiver), { parse: 'none' }).handle(request),
      ),
  ],
  ['toLambda, as text', (receiver) => byLambda(receiver, 'utf8')],
  ['toLambda, in base64', (receiver) => byLambda(receiver, 'base64')],
  [
    'toNodeHandler',
    (receiver) =>
      byNode(
        (rawBody) => (request, response) =>
          toNodeHandler(receiver)(Object.assign(request, { rawBody }), response),
      ),
  ],
  [
    'toNextPages',
    (receiver) =>
      byNode(
        (rawBody) => (request, response) =>
          toNextPages(receiver)(Object.assign(request, { rawBody }), response),
      ),
  ],
  [
    'toExpress',
    (receiver) =>
      byNode((rawBody) =>
        express()
          .use((request, _, next) => {
            Object.assign(request, { rawBody });
            next();
          })
          .post('/', toExpress(receiver)),
      ),
  ],
  [
    'toKoa',
    (receiver) =>
      byNode((rawBody) =>
        new Koa()
          .use((context, next) => {
            Object.assign(context.request, { rawBody });
            return next();
          })
          .use(toKoa(receiver))
          .callback(),
      ),
  ],
  [
    'toFastify',
    (receiver) =>
      byNode(async (rawBody) => {
        const app = fastify();
        app.addHook('onRequest', async (request) => void Object.assign(request, { rawBody }));
        app.register(toFastify(receiver));
        await app.ready();
        return (request, response) => app.routing(request, response);
      }),
  ],
  [
    "toKoa, with rawBody on Node's request",
    (receiver) =>
      byNode((rawBody) => {
        const listener = new Koa().use(toKoa(receiver)).callback();
        return (request, response) => listener(Object.assign(request, { rawBody }), response);
      }),
  ],
  [
    "toFastify, with rawBody on Node's request",
    (receiver) =>
      byNode(async (rawBody) => {
        const app = fastify();
        app.register(toFastify(receiver));
        await app.ready();
        return (request, response) => app.routing(Object.assign(request, { rawBody }), response);
      }),
  ],
];

describe.each(MOUNTS)('%s, behind a parser or proxy that loses bytes of the body,', (_, mount) => {
  test.each([
    [
      'shorter than its Content-Length',
      500,
      whole,
      400,
      'body_incomplete',
      /is shorter than its Content-/,
    ],
    [
      'empty and with a Content-Length of 0',
      0,
      { ...whole, 'Content-Length': '0' },
      401,
      'signature_invalid',
      /body is empty/,
    ],
    [
      'cut in the middle of its JSON',
      999,
      { ...whole, 'Content-Length': '999' },
      401,
      'signature_invalid',
      /ends in the middle of a JSON value/,
    ],
  ])('reports a body that arrives %s', async (_, length, headers, status, code, detail) => {
    const { receiver, rejected, handler } = setUp();
    const post = mount(receiver);
    expect(await post(new Uint8Array(order.subarray(0, length)), headers)).toBe(status);
    expect(rejected).toMatchObject([{ code, detail: expect.stringMatching(detail) }]);
    expect(rejected[0]?.detail).toMatch(/express\.json\(\), request\.text\(\)/);
    expect(handler).not.toHaveBeenCalled();
  });

  test('handles a body whose signature fits, even if Content-Length differs', async () => {
    const { receiver, handler } = setUp();
    const headers = { ...whole, 'Content-Length': '2000' };
    const post = mount(receiver);
    expect(await post(new Uint8Array(order), headers)).toBe(200);
    expect(handler).toHaveBeenCalledOnce();
  });
});

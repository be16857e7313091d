import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import express5 from 'express';
import express4 from 'express4';
import fastify from 'fastify';
import Koa from 'koa';
import { createReceiver, memoryStore, type Receiver } from 'storefront-webhooks';
import { toExpress } from 'storefront-webhooks/express';
import { toFastify } from 'storefront-webhooks/fastify';
import { toFetch } from 'storefront-webhooks/fetch';
import { toKoa } from 'storefront-webhooks/koa';
import { toNodeHandler } from 'storefront-webhooks/node';
import { loadFixture, sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Connection, chunk, type Headers, head, LAST_CHUNK } from '../support/raw-http.js';

const secret = 'a secret for tests';
const limit = 64 * 1024;
const MEBIBYTE = 1024 * 1024;

/** A paid order of the given size. */
function orderOf(bytes: number): Buffer {
  const order = JSON.parse(Buffer.from(loadFixture('order:paid').body).toString());
  const padded = (padding: string) => Buffer.from(JSON.stringify({ ...order, padding }));
  return padded('x'.repeat(bytes - padded('').length));
}

const body = orderOf(1_000);

/** The headers of a signed delivery, except the length headers. */
function webhook(signed: Uint8Array, id: string): Headers {
  return [
    ['Content-Type', 'application/json'],
    ['X-Service-Event', 'order:paid'],
    ['X-Service-Webhook', id],
    ['X-Service-Signature', sign(signed, secret)],
  ];
}

function sized(signed: Uint8Array, id = 'bad', length = signed.length): string {
  return head([...webhook(signed, id), ['Content-Length', length]]);
}

function chunked(signed: Uint8Array, id = 'bad'): string {
  return head([...webhook(signed, id), ['Transfer-Encoding', 'chunked']]);
}

/** The responses that the server gives without the receiver. */
const NOT_HTTP = { status: 400, body: expect.not.stringContaining('outcome') };

function answered(status: number, outcome = 'rejected') {
  return { status, body: expect.stringContaining(`"outcome":"${outcome}"`) };
}

const SERVERS: readonly (readonly [
  name: string,
  mount: (receiver: Receiver) => Promise<Server>,
])[] = [
  ['node:http', async (receiver) => createServer(toNodeHandler(receiver))],
  ['Express 5', async (receiver) => createServer(express5().use(toExpress(receiver)))],
  ['Express 4', async (receiver) => createServer(express4().use(toExpress(receiver)))],
  [
    'Koa',
    async (receiver) =>
      createServer(
        new Koa()
          .use(toKoa(receiver))
          .on('error', () => {})
          .callback(),
      ),
  ],
  [
    'Fastify',
    async (receiver) => {
      const app = fastify();
      await app.register(toFastify(receiver), { prefix: '/webhooks' });
      await app.ready();
      return app.server;
    },
  ],
  [
    'a fetch runtime',
    async (receiver) => createAdaptorServer({ fetch: toFetch(receiver) }) as Server,
  ],
];

describe.each(SERVERS)('%s', (name, mount) => {
  let server: Server;
  let connections: Connection[] = [];
  let sockets: Socket[] = [];
  let handled: string[] = [];
  const rejections = new EventEmitter();

  /** Starts a server, and connects to it. */
  async function open(options: { bodyTimeout?: number } = {}): Promise<Connection> {
    const hooks = {
      onRejected: ({ code }: { code: string }) => rejections.emit('rejection', code),
    };
    const receiver = createReceiver({ secret, limit, store: memoryStore(), hooks, ...options });
    receiver.on('*', ({ id }) => {
      handled.push(id);
    });
    server = await mount(receiver);
    server.on('connection', (socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return connect();
  }

  async function connect(): Promise<Connection> {
    const connection = await Connection.open(server.address());
    connections.push(connection);
    return connection;
  }

  afterEach(async () => {
    vi.useRealTimers();
    try {
      const next = await connect();
      await next.send(sized(body, 'next'), body);
      expect(await next.answer()).toMatchObject(answered(200, 'handled'));
      expect(handled).not.toContain('bad');
      expect(handled).toContain('next');
    } finally {
      for (const connection of connections) connection.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      connections = [];
      sockets = [];
      handled = [];
    }
  });

  test.each(['end', 'close', 'reset'] as const)(
    'drops a body whose sender disconnects during it (%s)',
    async (leave) => {
      const connection = await open();
      const rejected = once(rejections, 'rejection');
      await connection.send(sized(body), body.subarray(0, 500));
      connection[leave]();
      expect(await rejected).toEqual(['body_incomplete']);
      await connection.closed();
    },
  );

  test('drops a chunked body without its last chunk', async () => {
    const connection = await open();
    const rejected = once(rejections, 'rejection');
    await connection.send(chunked(body), chunk(body));
    connection.end();
    expect(await rejected).toEqual(['body_incomplete']);
    await connection.closed();
  });

  test('does not read beyond the declared length', async () => {
    const connection = await open();
    await connection.send(sized(body, 'bad', 900), body.subarray(0, 900));
    expect(await connection.answer()).toMatchObject(answered(401));
    await connection.send(body.subarray(900));
    expect(await connection.answer()).toMatchObject({ status: 400 });
    await connection.closed();
  });

  test('rejects a body that is shorter than its declared length', async () => {
    const connection = await open({ bodyTimeout: 100 });
    await connection.send(sized(body, 'bad', 1_100), body);
    expect(await connection.answer()).toMatchObject(answered(408));
  });

  test('cuts off a sender that sends small pieces forever', async () => {
    const connection = await open({ bodyTimeout: 100 });
    await connection.send(chunked(body));
    await connection.flood(chunk(Buffer.from(' ')));
    expect(await connection.answer()).toMatchObject(answered(408));
  });

  test('reads a chunked body that arrives in several chunks', async () => {
    const connection = await open();
    await connection.send(chunked(body, 'good'));
    for (let start = 0; start < body.length; start += 300) {
      await connection.send(chunk(body.subarray(start, start + 300)));
    }
    await connection.send(LAST_CHUNK);
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
    expect(handled).toEqual(['good']);
  });

  test('accepts a body of exactly the limit, with or without a declared length', async () => {
    const connection = await open();
    const full = orderOf(limit);
    await connection.send(sized(full, 'declared'), full);
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
    await connection.send(chunked(full, 'streamed'), chunk(full), LAST_CHUNK);
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
    expect(handled).toEqual(['declared', 'streamed']);
  });

  test.each([
    ['endless chunks', chunked(body), chunk(orderOf(16 * 1024))],
    ['an endless body', sized(body, 'bad', 1024 * MEBIBYTE), orderOf(16 * 1024)],
    ['an endless chunk', `${chunked(body)}ffffffff\r\n`, orderOf(16 * 1024)],
  ])('answers 413 to %s, and soon stops reading', async (_, start, more) => {
    const connection = await open();
    await connection.send(start);
    await connection.flood(more);
    expect(await connection.answer()).toMatchObject(answered(413));
    expect(sockets[0]?.bytesRead).toBeLessThan(2 * MEBIBYTE);
  });

  test.each([
    ['no signature', head([['Transfer-Encoding', 'chunked']]), 401],
    ['another method', head([['Transfer-Encoding', 'chunked']], { method: 'PUT' }), 405],
    ['a body over the limit', chunked(body), 413],
  ])('answers a sender that keeps sending after %s', async (_, start, status) => {
    const connection = await open();
    await connection.send(start);
    await connection.flood(chunk(orderOf(16 * 1024)));
    expect(await connection.answer()).toMatchObject(answered(status));
  });

  test('lets a sender finish a body over the limit, so that the sender gets the answer', async () => {
    const connection = await open();
    const pieces = Array.from({ length: 32 }, () => orderOf(MEBIBYTE / 64));
    await connection.send(sized(body, 'bad', MEBIBYTE / 2));
    await connection.sendUnheard(pieces);
    expect(await connection.answer()).toMatchObject(answered(413));
    await connection.closed();
  });

  test.each([
    ['X-Service-Signature', sign(body, secret), 401],
    ['X-Service-Event', 'order:paid', 400],
    ['X-Service-Event', 'order:created', 400],
  ])('rejects a second %s: %s', async (name, value, status) => {
    const connection = await open();
    const headers = [
      ...webhook(body, 'bad'),
      ['Content-Length', body.length],
      [name, value],
    ] as const;
    await connection.send(head(headers), body);
    expect(await connection.answer()).toMatchObject(answered(status));
  });

  test.each([
    [
      'two lengths',
      [
        ['Content-Length', '1000'],
        ['Content-Length', '10'],
      ],
    ],
    [
      'a length and chunks',
      [
        ['Content-Length', '1000'],
        ['Transfer-Encoding', 'chunked'],
      ],
    ],
    ['a non-numeric length', [['Content-Length', 'ten']]],
    ['a negative length', [['Content-Length', '-1']]],
  ] as const)('a request with %s does not reach the receiver', async (_, lengths) => {
    const connection = await open();
    await connection.send(head([...webhook(body, 'bad'), ...lengths]), body);
    expect(await connection.answer()).toMatchObject(NOT_HTTP);
    await connection.closed();
  });

  test.each([
    ['broken UTF-8', 'hostile/broken-utf8', 400],
    ['a byte order mark', 'hostile/byte-order-mark', 400],
    ['no body', 'hostile/empty-body', 400],
    ['a truncated JSON text', 'hostile/truncated-json', 400],
  ])('rejects %s, even if it is signed', async (_, fixture, status) => {
    const connection = await open();
    const { body } = loadFixture(fixture);
    await connection.send(sized(body), body);
    expect(await connection.answer()).toMatchObject(answered(status));
  });

  test('handles JSON that is nested 10,000 deep', async () => {
    const connection = await open();
    const deep = loadFixture('hostile/deep').body;
    await connection.send(sized(deep, 'deep'), deep);
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
    expect(handled).toEqual(['deep']);
  });

  test.each([
    ['a line of text', 'hello there\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a NUL in a header', `${head([['X-Service-Event', 'order:\0paid']])}`],
    ['a bare line end in a header', `${head([['X-Service-Event', 'order:paid\nX-Odd']])}`],
    ['a chunk without a size', `${chunked(body)}zz\r\n`],
  ])('rejects garbage and closes the connection: %s', async (_, garbage) => {
    const connection = await open();
    await connection.send(garbage);
    expect(await connection.answer()).toMatchObject(NOT_HTTP);
    await connection.closed();
  });

  test('accepts a second delivery on the connection of a handled one', async () => {
    const connection = await open();
    for (const id of ['first', 'second']) {
      await connection.send(sized(body, id), body);
      const answer = await connection.answer();
      expect(answer).toMatchObject(answered(200, 'handled'));
      expect(answer.headers.connection).not.toBe('close');
    }
    expect(handled).toEqual(['first', 'second']);
  });

  test('accepts a second delivery after one with a wrong signature', async () => {
    const connection = await open();
    await connection.send(sized(body), body.toReversed());
    expect(await connection.answer()).toMatchObject(answered(401));
    await connection.send(sized(body, 'second'), body);
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
  });

  test('answers pipelined deliveries in order', async () => {
    const connection = await open();
    await connection.send(
      ...[sized(body, 'first'), body],
      ...[sized(body), body.toReversed()],
      ...[chunked(body, 'third'), chunk(body), LAST_CHUNK],
    );
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
    expect(await connection.answer()).toMatchObject(answered(401));
    expect(await connection.answer()).toMatchObject(answered(200, 'handled'));
    expect(handled).toEqual(['first', 'third']);
  });

  // A fetch runtime decides itself when to close a connection, and keeps no pieces.
  if (name === 'a fetch runtime') return;

  test('cuts off a sender that never finishes, and closes the connection', async () => {
    const connection = await open({ bodyTimeout: 100 });
    await connection.send(chunked(body), chunk(body.subarray(0, 1)));
    const answer = await connection.answer();
    expect(answer).toMatchObject(answered(408));
    expect(answer.headers.connection).toBe('close');
    await connection.closed();
  });

  test('accepts no further delivery after an answer with Connection: close', async () => {
    const connection = await open();
    await connection.send(sized(body, 'bad', limit + 1));
    expect(await connection.answer()).toMatchObject(answered(413));
    await connection.send(Buffer.alloc(limit + 1), sized(body, 'bad'), body);
    await connection.closed();
  });

  test('drops a body that arrives byte by byte before it fills the memory', async () => {
    const connection = await open({ bodyTimeout: 60_000 });
    const bytes = Buffer.concat(Array(200_000).fill(chunk(Buffer.from(' '))));
    await connection.send(chunked(body));
    // The server gives a sender several seconds to read its answer.
    const pause = setTimeout;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    void connection.send(bytes);
    expect(await connection.answer()).toMatchObject(answered(408));
    let read: number | undefined;
    while (read !== sockets[0]?.bytesRead) {
      read = sockets[0]?.bytesRead;
      await new Promise((resolve) => pause(resolve, 50));
    }
    expect(sockets[0]?.bytesRead).toBeLessThan(bytes.length / 2);
    expect(sockets[0]?.destroyed).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(sockets[0]?.destroyed).toBe(true);
    await connection.closed();
  });

  test('rejects a declared length of one byte over the limit, before the body arrives', async () => {
    const connection = await open();
    // The clock is stopped, so the answer cannot wait for a timer.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    await connection.send(sized(orderOf(limit + 1)));
    const answer = await connection.answer();
    expect(answer).toMatchObject(answered(413));
    expect(answer.headers.connection).toBe('close');
  });

  test('rejects a streamed body when the first byte over the limit arrives', async () => {
    const connection = await open();
    const tooLong = orderOf(limit + 1);
    await connection.send(chunked(tooLong), chunk(tooLong.subarray(0, limit)));
    await connection.send(chunk(tooLong.subarray(limit)));
    const answer = await connection.answer();
    expect(answer).toMatchObject(answered(413));
    expect(answer.headers.connection).toBe('close');
  });
});

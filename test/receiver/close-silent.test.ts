import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  connect as connectHttp2,
  createServer as createHttp2,
  createSecureServer,
} from 'node:http2';
import { createServer as createHttps } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcp,
  type Server,
  type Socket,
} from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SECRET } from '../support/deliver.js';
import { selfSigned } from '../support/self-signed.js';

type Receive = ReturnType<typeof toNodeHandler>;
const http = (receive: Receive) => createServer(receive);
const https = (receive: Receive) => createHttps(selfSigned, receive);
const http2 = (receive: Receive) => createHttp2(receive);
const http2OverTls = (receive: Receive) => createSecureServer(selfSigned, receive);

const host = '127.0.0.1';
const trusting = { host, rejectUnauthorized: false };

/** A receiver that no webhook has reached. */
async function shop(listening: (receive: Receive) => Server) {
  const receiver = createReceiver({ secret: SECRET });
  const server = listening(toNodeHandler(receiver)).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { receiver, server, port };
}

function countOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

async function tcp(port: number) {
  const socket = connect(port, host).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function tls(port: number, on?: Socket) {
  const over = on ? { socket: on } : { port };
  const socket = connectTls({ ...trusting, ...over }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

async function session(port: number, scheme = 'https') {
  const opened = connectHttp2(`${scheme}://${host}:${port}`, trusting).on('error', () => {});
  onTestFinished(() => opened.destroy());
  await once(opened, 'connect');
}

describe('close({ server }), before any webhook', () => {
  test('does not wait for a connection or a session that is silent', async () => {
    const silent = [
      ['TCP connection of HTTP', http, tcp],
      ['TCP connection of HTTPS', https, tcp],
      ['TLS connection of HTTPS', https, tls],
      ['TCP connection of HTTP/2', http2, tcp],
      ['TCP connection of HTTP/2 over TLS', http2OverTls, tcp],
      ['session of HTTP/2', http2, (port: number) => session(port, 'http')],
      ['session of HTTP/2 over TLS', http2OverTls, session],
    ] as const;
    const closing = silent.map(async ([name, listening, open]) => {
      const { receiver, server, port } = await shop(listening);
      await open(port);
      await vi.waitFor(async () => expect(await countOf(server)).toBe(1));
      // Longer than a test may take: it would time out.
      await receiver.close({ server, timeoutMs: 60_000 });
      return { name, left: await countOf(server) };
    });
    const expected = silent.map(([name]) => ({ name, left: 0 }));
    expect(await Promise.all(closing)).toEqual(expected);
  });

  test('answers the first request of a connection that was silent until then', async () => {
    const { receiver, server, port } = await shop(http);
    const socket = await tcp(port);
    const closing = receiver.close({ server });
    await vi.waitUntil(() => !server.listening);
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.write('GET / HTTP/1.1\r\nHost: shop\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(`${answer}`).toMatch(/^HTTP\/1\.1 405 /);
    await closing;
  });

  test('answers the first request of a connection whose TLS handshake ended late', async () => {
    const { receiver, server, port } = await shop(https);
    const raw = await tcp(port);
    const closing = receiver.close({ server });
    await vi.waitUntil(() => !server.listening);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const socket = await tls(port, raw);
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.write('GET / HTTP/1.1\r\nHost: shop\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(`${answer}`).toMatch(/^HTTP\/1\.1 405 /);
    await closing;
  });

  test('cuts off a connection whose TLS handshake does not end', async () => {
    const { receiver, server, port } = await shop(https);
    const socket = await tcp(port);
    // The beginning of a handshake.
    socket.write(Uint8Array.of(0x16, 0x03, 0x01));
    await vi.waitFor(async () => expect(await countOf(server)).toBe(1));
    await receiver.close({ server, timeoutMs: 1_500 });
    await vi.waitFor(async () => expect(await countOf(server)).toBe(0));
  });
});

test('a connection is watched once, however often the module is loaded', async () => {
  onTestFinished(() => void vi.resetModules());
  for (let copies = 0; copies < 3; copies++) {
    vi.resetModules();
    await import('../../src/process/connections.js');
  }
  const server = createTcp().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  await tcp(port);
  const [connection] = await accepted;
  expect(connection.listenerCount('close')).toBe(1);
});

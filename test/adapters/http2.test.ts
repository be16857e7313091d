import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  createServer,
  type Http2Server,
} from 'node:http2';
import { text } from 'node:stream/consumers';
import {
  createReceiver,
  memoryStore,
  type ReceiverOptions,
  type UnsignedRequest,
} from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { afterEach, expect, test, vi } from 'vitest';
import { gate } from '../support/gate.js';
import { collect, heldBytes } from '../support/memory.js';
import { LIMIT, SECRET } from './apps/inside/contract.js';
import { answered, HANDLED, NOT_POST, orderOf, webhook, withoutCode } from './corpus.js';

const MEBIBYTE = 1024 * 1024;

let server: Http2Server;
let session: ClientHttp2Session;

async function open({
  bodyTimeout = 10_000,
  limit = LIMIT,
  secret = SECRET,
  handler = () => {},
  client = {},
}: Opened = {}) {
  const options = { secret, limit, bodyTimeout, store: memoryStore() };
  const receiver = createReceiver(options).on('*', handler);
  server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The server listens on no port.');
  session = connect(`http://127.0.0.1:${address.port}`, client);
  return receiver;
}

interface Opened {
  readonly bodyTimeout?: number;
  readonly limit?: number;
  readonly client?: ClientSessionOptions;
  readonly secret?: ReceiverOptions['secret'];
  readonly handler?: (event: { readonly request: UnsignedRequest }) => unknown;
}

afterEach(async () => {
  // Some of its streams never end.
  session.destroy();
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
});

const signed = (body: Buffer) =>
  Object.fromEntries(webhook(body, 'whl_1').map(([name, value]) => [name.toLowerCase(), value]));

async function send(body: Buffer, headers: Record<string, string> = {}) {
  const all = {
    ':method': 'POST',
    ':path': '/webhooks',
    ...signed(body),
    ...headers,
  };
  const stream = session.request(all, { endStream: body.length === 0 });
  if (body.length > 0) stream.end(body);
  const [got] = await once(stream, 'response');
  return { status: got[':status'], allow: got.allow, body: withoutCode(await text(stream)) };
}

test('the receiver handles a delivery over HTTP/2', async () => {
  await open();
  const { status, body } = HANDLED;
  expect(await send(orderOf(1_000))).toEqual({ status, body });
});

test('a handler and a `secret` function get the headers of HTTP/1.1 over HTTP/2', async () => {
  const got: Record<string, string>[] = [];
  const read = (headers: object) => {
    const fields: [string, string][] = [];
    for (const [name, value] of Object.entries(headers)) fields.push([name, String(value)]);
    got.push(Object.fromEntries(new Headers(fields)));
  };
  await open({
    secret({ headers }) {
      read(headers);
      return { secret: SECRET, scope: '' };
    },
    handler: ({ request }) => read(request.headers),
  });
  const { status } = await send(orderOf(1_000), { ':authority': 'shop.example', 'x-own': 'a' });
  expect(status).toBe(HANDLED.status);
  const names = expect.objectContaining({ host: 'shop.example', 'x-own': 'a' });
  expect(got).toEqual([names, names]);
});

test('the receiver sends no header that HTTP/2 does not have while its server stops', async () => {
  const warned = vi.fn();
  process.once('warning', warned);
  const { open: finish, opened } = gate();
  const handler = vi.fn(() => opened);
  const receiver = await open({ handler });
  const sent = send(orderOf(1_000));
  await vi.waitFor(() => expect(handler).toHaveBeenCalled());
  const closing = receiver.close({ server });
  await vi.waitFor(() => expect(server.listening).toBe(false));
  finish();
  expect(await sent).toMatchObject({ status: HANDLED.status });
  session.close();
  await closing;
  process.off('warning', warned);
  // Node drops such a header, and warns of it.
  expect(warned).not.toHaveBeenCalled();
});

test('the receiver rejects the same requests over HTTP/2 as over HTTP/1.1', async () => {
  await open();
  const { status, body } = answered(
    413,
    'rejected',
    'The body is larger than this receiver accepts.',
  );
  expect(await send(orderOf(LIMIT + 1))).toEqual({ status, body });
  const get = await send(Buffer.from(''), { ':method': 'GET' });
  expect(get).toEqual({ status: 405, allow: 'POST', body: NOT_POST.body });
});

test('the receiver resets a stream whose sender was answered before it finished', async () => {
  await open({ bodyTimeout: 100 });
  const to = { ':method': 'POST', ':path': '/webhooks' };
  const stream = session.request({ ...to, ...signed(orderOf(1_000)) });
  stream.write('some of it');
  let answer = '';
  stream.on('response', (headers) => {
    answer += headers[':status'];
  });
  stream.setEncoding('utf8').on('data', (piece) => {
    answer += piece;
  });
  await once(stream, 'close');
  expect(answer).toBe('408{"message":"The body did not arrive in time.","outcome":"rejected"}');
  expect(stream.rstCode).toBe(0);
});

test('the receiver keeps nothing of senders that take no response', async () => {
  // The headers of a response need no window, and its body never leaves.
  const settings = { initialWindowSize: 0 };
  // For the bodies that wait on the side of the client.
  const client = { settings, maxSessionMemory: 1_000 };
  await open({ bodyTimeout: 1_000, limit: MEBIBYTE, client });
  await once(session, 'remoteSettings');
  let closed = 0;
  server.on('stream', (stream) => {
    stream.on('close', () => {
      closed += 1;
    });
  });
  const body = Buffer.alloc(MEBIBYTE - 1);
  const headers = { ':method': 'POST', ':path': '/webhooks', ...signed(body) };
  const before = heldBytes();
  const answers = Array.from({ length: 100 }, async () => {
    const stream = session.request(headers);
    stream.write(body);
    const [got] = await once(stream, 'response');
    return got[':status'];
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([408]));
  // Before their streams are closed.
  const released = expect.poll(() => heldBytes() - before, { timeout: 1_000 });
  await released.toBeLessThan(20 * MEBIBYTE);
  await expect.poll(() => closed).toBe(100);
});

test('a session that has ended is forgotten while its server goes on', async () => {
  await open();
  const sessions: WeakRef<object>[] = [];
  server.on('session', (opened) => sessions.push(new WeakRef(opened)));
  await send(orderOf(1_000));
  session.close();
  await vi.waitFor(() => {
    collect();
    expect(sessions.map((one) => one.deref() === undefined)).toEqual([true]);
  });
  expect(server.listening).toBe(true);
});

test('close() does not wait for a sender that hung up before the adapter got its request', async () => {
  const { open: proceed, opened } = gate();
  const receiver = createReceiver({ secret: SECRET, store: memoryStore() }).on('*', () => {});
  const mounted = toNodeHandler(receiver);
  const arrived = vi.fn();
  const answered = vi.fn();
  server = createServer(async (request, response) => {
    arrived();
    await opened;
    await mounted(request, response);
    answered();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The server listens on no port.');
  session = connect(`http://127.0.0.1:${address.port}`);
  const stream = session.request({ ':method': 'POST', ':path': '/', ...signed(orderOf(1_000)) });
  stream.on('error', () => {});
  await vi.waitFor(() => expect(arrived).toHaveBeenCalled());
  stream.destroy();
  await once(stream, 'close');
  await new Promise((resolve) => setTimeout(resolve, 50));
  proceed();
  await vi.waitFor(() => expect(answered).toHaveBeenCalled());
  const startedAt = performance.now();
  await receiver.close({ timeoutMs: 5_000 });
  expect(performance.now() - startedAt).toBeLessThan(2_500);
});

import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import {
  type ClientHttp2Stream,
  connect as connectHttp2,
  createServer as createHttp2Server,
} from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { paidOrder, SECRET } from '../support/deliver.js';

const body = JSON.stringify(paidOrder());
const agents: Agent[] = [];
const servers: Server[] = [];

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return agent;
}

afterEach(() => {
  vi.useRealTimers();
  for (const agent of agents.splice(0)) agent.destroy();
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A shop whose handler takes as long as the test decides. */
async function shop(handle: () => unknown = () => {}) {
  const receiver = createReceiver({ secret: SECRET, hooks: { onError() {} } });
  const handled = vi.fn(handle);
  receiver.on('order:paid', handled);
  const server = createServer(toNodeHandler(receiver));
  return { receiver, server, handled, port: await listen(server) };
}

/** Has time pass only in {@link elapse}, for what begins after it. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

/** Lets time pass until the work has ended, but at most `mostMs`, and returns how much has passed. */
async function elapse(work: Promise<unknown>, mostMs: number): Promise<number> {
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  let ms = 0;
  for (; !isOver && ms < mostMs; ms += 50) {
    await vi.advanceTimersByTimeAsync(50);
    // A connection ends in real turns of the event loop.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }
  return ms;
}

let deliveries = 0;

/** The outcome of a delivery, and whether its connection stays open. */
async function deliver(port: number, agent: Agent) {
  const signature = await sign(body, SECRET);
  const sent = request({
    port,
    agent,
    host: '127.0.0.1',
    method: 'POST',
    headers: {
      'X-Service-Event': 'order:paid',
      'X-Service-Webhook': `whl_${++deliveries}`,
      'X-Service-Signature': signature,
    },
  }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  for await (const _ of response);
  return { status: response.statusCode, connection: response.headers.connection };
}

/** A shop over HTTP/2, whose handler a delivery has reached. */
async function overHttp2(handle?: () => unknown) {
  const { receiver, handled } = await shop(handle);
  const server = createHttp2Server(toNodeHandler(receiver)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => session.destroy());
  const sent = session.request({
    ':method': 'POST',
    'x-service-event': 'order:paid',
    'x-service-webhook': `whl_${++deliveries}`,
    'x-service-signature': await sign(body, SECRET),
  });
  const status = statusOf(sent).catch((error) => error.code);
  sent.end(body);
  await vi.waitUntil(() => handled.mock.calls.length > 0);
  return { receiver, server, session, sent, status };
}

async function statusOf(sent: ClientHttp2Stream): Promise<unknown> {
  const [headers] = await once(sent, 'response');
  sent.resume();
  await once(sent, 'close');
  return headers[':status'];
}

describe('close({ server })', () => {
  test('answers the next request on an open connection, and closes the connection with it', async () => {
    const { receiver, server, handled, port } = await shop();
    const agent = keepAlive();
    expect(await deliver(port, agent)).toEqual({ status: 200, connection: 'keep-alive' });
    const ended = vi.fn();
    holdTime();
    const closing = receiver.close({ server }).then(ended);
    expect(await elapse(closing, 500)).toBe(500);
    expect(await deliver(port, agent)).toEqual({ status: 200, connection: 'close' });
    expect(handled).toHaveBeenCalledTimes(2);
    expect(await elapse(closing, 2_000)).toBeLessThan(2_000);
    expect(server.listening).toBe(false);
  });

  test('keeps the other open connections for a second after each request', async () => {
    const { receiver, server, port } = await shop();
    const agents = [keepAlive(), keepAlive()];
    for (const agent of agents) await deliver(port, agent);
    holdTime();
    const closing = receiver.close({ server });
    for (const agent of agents) {
      expect(await elapse(closing, 700)).toBe(700);
      expect(await deliver(port, agent)).toEqual({ status: 200, connection: 'close' });
    }
    expect(await elapse(closing, 2_000)).toBeLessThan(2_000);
  });

  test('waits for running requests, and closes their connections with the response', async () => {
    let finish = () => {};
    const { receiver, server, handled, port } = await shop(
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    const delivered = deliver(port, keepAlive());
    await vi.waitFor(() => expect(handled).toHaveBeenCalled());
    const ended = vi.fn();
    const closing = receiver.close({ server }).then(ended);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ended).not.toHaveBeenCalled();
    finish();
    expect(await delivered).toEqual({ status: 200, connection: 'close' });
    await closing;
  });

  test('accepts no new connection', async () => {
    const { receiver, server, port } = await shop();
    const agent = keepAlive();
    await deliver(port, agent);
    const closing = receiver.close({ server });
    await vi.waitUntil(() => !server.listening);
    await expect(deliver(port, keepAlive())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    agent.destroy();
    await closing;
  });

  test('finishes within two seconds, even if a connection is kept alive', async () => {
    const { receiver, server, port } = await shop();
    server.keepAliveTimeout = 60_000;
    await deliver(port, keepAlive());
    holdTime();
    expect(await elapse(receiver.close({ server }), 2_000)).toBeLessThan(2_000);
  });

  test('answers a request on an open connection that arrived while the process stood still', async () => {
    const { receiver, server, handled, port } = await shop();
    const socket = connect(port, '127.0.0.1');
    const signature = await sign(body, SECRET);
    const send = () =>
      socket.write(
        `POST / HTTP/1.1\r\nHost: shop\r\nX-Service-Event: order:paid\r\nX-Service-Webhook: whl_${++deliveries}\r\n` +
          `X-Service-Signature: ${signature}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    const answers: string[] = [];
    socket.on('data', (data) => answers.push(`${data}`)).on('error', () => {});
    send();
    await vi.waitUntil(() => answers.length > 0);
    holdTime();
    const closing = receiver.close({ server });
    await elapse(closing, 500);
    send();
    // In the same turn: the server has not read the request yet.
    vi.advanceTimersByTime(1_000);
    await elapse(closing, 2_000);
    expect(answers.map((answer) => answer.slice(0, 15))).toEqual(Array(2).fill('HTTP/1.1 200 OK'));
    expect(handled).toHaveBeenCalledTimes(2);
  });

  test('answers all requests in a storm over open connections, without a 503', async () => {
    const { receiver, server, port } = await shop(
      () => new Promise((resolve) => setTimeout(resolve, 5)),
    );
    const statuses: unknown[] = [];
    const errors = new Set<unknown>();
    let isOver = false;
    const sending = Array.from({ length: 20 }, async () => {
      const agent = keepAlive();
      while (!isOver) {
        try {
          statuses.push((await deliver(port, agent)).status);
        } catch (error) {
          errors.add((error as { code?: string }).code);
          return;
        }
      }
    });
    await vi.waitUntil(() => statuses.length > 100);
    await receiver.close({ server });
    isOver = true;
    await Promise.all(sending);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(errors).toEqual(new Set(['ECONNREFUSED']));
  });

  test.each([
    ['', 0],
    [' and the process then stands still', 2_000],
  ])(
    'answers every client that has connected, even if no connection was accepted yet%s',
    async (_, stillMs) => {
      const { receiver, server, port } = await shop();
      // The receiver accepts for one second, whatever a turn of the event loop takes here.
      vi.useFakeTimers({ toFake: ['performance'] });
      const agents = Array.from({ length: 50 }, keepAlive);
      await deliver(port, keepAlive());
      const delivered = agents.map((agent) => deliver(port, agent).catch((error) => error.code));
      // The connections are established, and wait in the system's queue until the next turn of the event loop.
      for (let ticks = 0; ticks < 5; ticks++) await new Promise(process.nextTick);
      const closing = receiver.close({ server });
      vi.advanceTimersByTime(stillMs);
      const statuses = (await Promise.all(delivered)).map((one) => one.status ?? one);
      expect(statuses).toEqual(Array(50).fill(200));
      vi.useRealTimers();
      await closing;
    },
  );

  test.each([300, Number.NaN])('cuts off requests that exceed %s ms', async (timeoutMs) => {
    const { receiver, server, handled, port } = await shop(() => new Promise(() => {}));
    const delivered = deliver(port, keepAlive()).catch((error) => error.code);
    await vi.waitFor(() => expect(handled).toHaveBeenCalled());
    const closed = once(server, 'close');
    holdTime();
    expect(await elapse(receiver.close({ server, timeoutMs }), 500)).toBeLessThan(500);
    expect(await delivered).toBe('ECONNRESET');
    await closed;
  });

  test('does not wait for a client that connects and sends nothing', async () => {
    const { receiver, server, port } = await shop();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    await receiver.close({ server, timeoutMs: 2_000 });
    expect(server.listening).toBe(false);
    socket.destroy();
  });

  test('closes an HTTP/2 server as well', async () => {
    const { receiver } = await shop();
    const server = createHttp2Server(toNodeHandler(receiver)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await receiver.close({ server });
    expect(server.listening).toBe(false);
  });

  test('ends an HTTP/2 session with its next response', async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { receiver, server, session, sent } = await overHttp2(() => ended);
    const closing = receiver.close({ server });
    await vi.waitUntil(() => !server.listening);
    const [closed, answered] = [once(session, 'close'), once(sent, 'response')];
    end();
    const [headers] = await answered;
    sent.resume();
    await Promise.all([closed, closing]);
    expect([headers[':status'], headers.connection]).toEqual([200, undefined]);
  });

  test('ends an idle HTTP/2 session, as it closes an idle connection', async () => {
    const { receiver, server, session, status } = await overHttp2();
    expect(await status).toBe(200);
    const closed = once(session, 'close');
    holdTime();
    expect(await elapse(receiver.close({ server }), 3_000)).toBeLessThan(3_000);
    await closed;
  });

  test('ends HTTP/2 sessions that carried no webhook, idle or with their next response', async () => {
    const { receiver } = await shop();
    const receive = toNodeHandler(receiver);
    const server = createHttp2Server((asked, response) => {
      if (asked.method === 'POST') void receive(asked, response);
      else response.end('page');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const open = () => {
      const session = connectHttp2(address);
      onTestFinished(() => session.destroy());
      return session;
    };
    const early = open();
    expect(await statusOf(early.request())).toBe(200);
    expect(await statusOf(open().request({ ':method': 'POST' }, { endStream: true }))).toBe(401);
    const later = open();
    expect(await statusOf(later.request())).toBe(200);
    const closed = [once(early, 'close'), once(later, 'close')];
    const startedAt = performance.now();
    const closing = receiver.close({ server });
    await vi.waitUntil(() => !server.listening);
    // From Node 24 on, the server has already ended its idle sessions.
    if (Number.parseInt(process.versions.node, 10) < 24) {
      expect(await statusOf(early.request())).toBe(200);
    }
    await closing;
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await Promise.all(closed);
  });

  test('lets an open HTTP/2 stream finish', async () => {
    let finish = () => {};
    const { receiver, server, status } = await overHttp2(
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    holdTime();
    const closing = receiver.close({ server });
    expect(await elapse(closing, 3_000)).toBe(3_000);
    finish();
    expect(await elapse(closing, 3_000)).toBeLessThan(3_000);
    expect(await status).toBe(200);
  });

  test('cuts off HTTP/2 streams that do not finish in time', async () => {
    const { receiver, server, session } = await overHttp2(() => new Promise(() => {}));
    const closed = Promise.all([once(session, 'close'), once(server, 'close')]);
    holdTime();
    expect(await elapse(receiver.close({ server, timeoutMs: 300 }), 500)).toBeLessThan(500);
    await closed;
  });

  test.each([
    ['stop', (stop: () => unknown) => ({ stop })],
    ['shutdown', (shutdown: () => unknown) => ({ shutdown })],
  ])('closes a server with a %s, as in Bun and Deno', async (_, toServer) => {
    const { receiver } = await shop();
    let finish = () => {};
    const method = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const ended = vi.fn();
    const closing = receiver.close({ server: toServer(method) }).then(ended);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(method).toHaveBeenCalledOnce();
    expect(ended).not.toHaveBeenCalled();
    finish();
    await closing;
  });

  test('closes if it gets the application, and explains what to pass instead', async () => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } });
    await receiver.close({ server: (() => {}) as never });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining('app.listen()'),
    });
  });
});

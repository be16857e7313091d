import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { sign } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
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
  for (const agent of agents.splice(0)) agent.destroy();
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A shop whose handler takes as long as the test says. */
async function shop(handle: () => unknown = () => {}) {
  const receiver = createReceiver({ secret: SECRET, hooks: { onError() {} } });
  const handled = vi.fn(handle);
  receiver.on('order:paid', handled);
  const server = createServer(toNodeHandler(receiver));
  return { receiver, server, handled, port: await listen(server) };
}

/** Also on a machine that has other things to do. */
const SOON = { timeout: 20_000 };

let deliveries = 0;

/** What a delivery is answered, and whether its connection is kept. */
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

describe('close({ server })', () => {
  test('answers what still comes on an open connection, and ends that with it', async () => {
    const { receiver, server, handled, port } = await shop();
    const agent = keepAlive();
    expect(await deliver(port, agent)).toEqual({ status: 200, connection: 'keep-alive' });
    const ended = vi.fn();
    const closing = receiver.close({ server }).then(ended);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ended).not.toHaveBeenCalled();
    expect(await deliver(port, agent)).toEqual({ status: 200, connection: 'close' });
    expect(handled).toHaveBeenCalledTimes(2);
    await closing;
    expect(server.listening).toBe(false);
  });

  test('waits for what is running, whose answer is the last of its connection', async () => {
    let finish = () => {};
    const { receiver, server, handled, port } = await shop(
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    const delivered = deliver(port, keepAlive());
    await vi.waitUntil(() => handled.mock.calls.length > 0, SOON);
    const ended = vi.fn();
    const closing = receiver.close({ server }).then(ended);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ended).not.toHaveBeenCalled();
    finish();
    expect(await delivered).toEqual({ status: 200, connection: 'close' });
    await closing;
  });

  test('takes no new connection', async () => {
    const { receiver, server, port } = await shop();
    const agent = keepAlive();
    await deliver(port, agent);
    const closing = receiver.close({ server });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await expect(deliver(port, keepAlive())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    agent.destroy();
    await closing;
  });

  test('ends within two seconds, though a connection is kept open', async () => {
    const { receiver, server, port } = await shop();
    server.keepAliveTimeout = 60_000;
    await deliver(port, keepAlive());
    const startedAt = performance.now();
    await receiver.close({ server });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('answers everything in a storm over open connections, none of it 503', async () => {
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
    await vi.waitUntil(() => statuses.length > 100, SOON);
    await receiver.close({ server });
    isOver = true;
    await Promise.all(sending);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(errors).toEqual(new Set(['ECONNREFUSED']));
  });

  test('answers all who have connected by then, though none of them was accepted yet', async () => {
    const { receiver, server, port } = await shop();
    const agents = Array.from({ length: 50 }, keepAlive);
    await deliver(port, keepAlive());
    const delivered = agents.map((agent) => deliver(port, agent).catch((error) => error.code));
    // Their connections are made, and lie in the queue of the system until the next turn of the event loop.
    for (let ticks = 0; ticks < 5; ticks++) await new Promise(process.nextTick);
    await receiver.close({ server });
    const statuses = (await Promise.all(delivered)).map((one) => one.status ?? one);
    expect(statuses).toEqual(Array(50).fill(200));
  });

  test('gives up in time on what does not end, and cuts it off', async () => {
    const { receiver, server, handled, port } = await shop(() => new Promise(() => {}));
    const delivered = deliver(port, keepAlive()).catch((error) => error.code);
    await vi.waitUntil(() => handled.mock.calls.length > 0, SOON);
    const closed = once(server, 'close');
    const startedAt = performance.now();
    await receiver.close({ server, timeoutMs: 300 });
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(await delivered).toBe('ECONNRESET');
    await closed;
  });

  test('does not wait for a sender who has connected and says nothing', async () => {
    const { receiver, server, port } = await shop();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    await receiver.close({ server, timeoutMs: 2_000 });
    expect(server.listening).toBe(false);
    socket.destroy();
  });

  test('ends a server of HTTP/2, too', async () => {
    const { receiver } = await shop();
    const server = createSecureServer(toNodeHandler(receiver)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await receiver.close({ server });
    expect(server.listening).toBe(false);
  });

  test.each([
    ['stop', (stop: () => unknown) => ({ stop })],
    ['shutdown', (shutdown: () => unknown) => ({ shutdown })],
  ])('ends a server that has a %s, as of Bun and Deno', async (_, toServer) => {
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

  test('says what to pass where it is given the application, and ends all the same', async () => {
    const onError = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { onError } });
    await receiver.close({ server: (() => {}) as never });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining('app.listen()'),
    });
  });
});

import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createReceiver, memoryStore, WebhookError } from 'storefront-webhooks';
import { type Fixture, loadFixture, replay } from 'storefront-webhooks/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';

const secret = 'a secret for tests';
const paid = loadFixture('order:paid');
const never = () => new Promise<never>(() => {});

const running: { server: Server; sockets: Set<Socket> }[] = [];
afterEach(() => {
  for (const { server, sockets } of running.splice(0)) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

/** A server that sends the given bytes to each request. */
async function listen(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => answer(socket));
    socket.once('close', () => sockets.delete(socket));
  }).listen(0, '127.0.0.1');
  running.push({ server, sockets });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/hooks?key=hidden`, sockets };
}

/** The error of a replay: an error of this package, with more than a code. */
async function errorOf(replayed: Promise<unknown>) {
  const error = await replayed.then(
    () => 'it was answered',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof WebhookError)) throw error;
  return error;
}

describe('a server', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['never answers', () => {}],
    ['starts an answer and does not continue', (socket) => socket.write('HTTP/1.1 200 OK\r\nA: ')],
    [
      'sends less than it has declared',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
    ],
    ['only sends an interim response', (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n')],
    [
      'sends byte by byte, without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const timer = setInterval(() => socket.write('a'), 10);
        socket.once('close', () => clearInterval(timer));
      },
    ],
  ])('that %s is disconnected after the timeout', async (_, answer) => {
    const { address, sockets } = await listen(answer);
    const error = await errorOf(replay(address, paid, { secret, timeout: 100 }));
    expect(error.code).toBe('timed_out');
    expect(error.message).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/hooks did not answer within 100 ms\. .*longer timeout/,
    );
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });

  test.each<[string, RegExp, (socket: Socket) => void]>([
    ['closes without an answer', /did not answer: .*check its logs/, (socket) => socket.end()],
    ['resets the connection', /did not answer: .*/, (socket) => socket.resetAndDestroy()],
    [
      'closes in the middle of its answer',
      /closed the connection before its answer was complete\. .*logs/,
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
    ],
    [
      'switches the protocol',
      /changed to another protocol\. .*Upgrade/,
      (socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    ],
    [
      'does not speak HTTP',
      /did not answer: Parse Error.*/,
      (socket) => socket.write('SSH-2.0-a\r\n'),
    ],
    [
      'answers more than 1 MiB',
      /answered with more than 1 MiB.*receiver/,
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(2 ** 20 + 1)}`),
    ],
  ])(
    'that %s leads to an error with the reason, and is disconnected',
    async (_, message, answer) => {
      const { address, sockets } = await listen(answer);
      const fixture: Fixture = { ...paid, headers: [...paid.headers, ['Upgrade', 'websocket']] };
      const error = await errorOf(replay(address, fixture, { secret }));
      expect(error.code).toBe('response_invalid');
      expect(error.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/hooks /);
      expect(error.message).toMatch(message);
      expect(error.message).not.toContain('hidden');
      await vi.waitFor(() => expect(sockets.size).toBe(0));
    },
  );

  test('that opens a tunnel for CONNECT has not answered', async () => {
    const { address, sockets } = await listen((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    const error = await errorOf(replay(address, { ...paid, method: 'CONNECT' }, { secret }));
    expect(error.code).toBe('response_invalid');
    expect(error.message).toMatch(/opened a tunnel\. .*method/);
    await vi.waitFor(() => expect(sockets.size).toBe(0));
  });

  test('that answers 1 MiB is read to the end', async () => {
    const text = 'é'.repeat(2 ** 19);
    const { address } = await listen((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${text}`));
    expect((await replay(address, paid, { secret })).body).toBe(text);
  });

  test('that does not exist leads to an error with its address', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    for (const host of ['127.0.0.1', 'localhost']) {
      const error = await errorOf(replay(`http://${host}:${port}/hooks`, paid, { secret }));
      expect(error).toMatchObject({ code: 'response_invalid', cause: { code: 'ECONNREFUSED' } });
      expect(error.message).toMatch(`http://${host}:${port}/hooks did not answer: `);
      expect(error.message).toContain('ECONNREFUSED');
    }
  });
});

describe('the timeout', () => {
  const receiver = () => createReceiver({ secret, store: memoryStore() }).on('*', never);

  test.each([
    ['a receiver', 'The receiver did not answer', receiver()],
    ['a fetch handler', 'The fetch handler did not answer', never],
    [
      'a fetch handler with an endless answer',
      'The fetch handler did not answer',
      async () => new Response(new ReadableStream()),
    ],
    ['an application', 'http://127.0.0.1:', (_request: unknown, _response: unknown) => {}],
    [
      'an application that never gets ready',
      'The application did not get ready',
      { ready: never, server: createHttpServer() },
    ],
  ])('also applies to %s', async (_, subject, target) => {
    const error = await errorOf(replay(target, paid, { secret, timeout: 100 }));
    expect(error.code).toBe('timed_out');
    expect(error.message).toMatch(subject);
    expect(error.message).toContain('within 100 ms');
  });

  test('is 10 seconds by default', async () => {
    vi.useFakeTimers();
    vi.resetModules();
    try {
      const fresh = await import('storefront-webhooks/testing');
      const replayed = fresh.replay(never, paid, { secret }).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(9_999);
      expect(await Promise.race([replayed, 'waits'])).toBe('waits');
      await vi.advanceTimersByTimeAsync(1);
      expect(String(await replayed)).toContain('within 10000 ms');
    } finally {
      vi.useRealTimers();
      // Modules that were loaded with the fake clock read the wrong time. No later file may get them.
      vi.resetModules();
    }
  });

  test('does not depend on a fake clock of the test', async () => {
    vi.useFakeTimers();
    try {
      const limited = createReceiver({ secret, store: memoryStore(), hooks: { onError() {} } });
      const replayed = replay(limited.on('*', never), paid);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await replayed).toMatchObject({ status: 500, outcome: 'failed' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('applies to each delivery separately', async () => {
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 300));
    const slow = createReceiver({ secret, store: memoryStore() }).on('*', pause);
    const options = { id: 'fresh', duplicate: 5, timeout: 1_400 };
    expect(await replay(slow, 'query:created', options)).toHaveLength(5);
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5'])(
    'cannot be %j, which is rejected before anything is sent',
    async (timeout) => {
      const fetch = vi.fn();
      await expect(
        Reflect.apply(replay, undefined, [{ fetch }, paid, { secret, timeout }]),
      ).rejects.toMatchObject({
        name: 'UsageError',
        code: 'option_invalid',
        message: expect.stringMatching(/timeout.*above 0/),
      });
      expect(fetch).not.toHaveBeenCalled();
    },
  );
});

test('an answer of a fetch handler is read up to 1 MiB, and the rest is cancelled', async () => {
  const cancel = vi.fn();
  const pull = (controller: ReadableStreamDefaultController) =>
    controller.enqueue(new Uint8Array(2 ** 16));
  const endless = async () => new Response(new ReadableStream({ pull, cancel }));
  const error = await errorOf(replay(endless, paid, { secret }));
  expect(error.code).toBe('response_invalid');
  expect(error.message).toMatch(/^The fetch handler answered with more than 1 MiB/);
  expect(cancel).toHaveBeenCalledOnce();
});

test('a fetch handler is informed that the rest of its answer is cancelled', async () => {
  const cancel = vi.fn();
  const unended = async () => new Response(new ReadableStream({ cancel }));
  const error = await errorOf(replay(unended, paid, { secret, timeout: 50 }));
  expect(error.code).toBe('timed_out');
  expect(cancel).toHaveBeenCalledOnce();
});

test('an application that takes over connections is still closed', async () => {
  let tunnel: Socket | undefined;
  const application = async ({ socket }: { socket: Socket }, response: ServerResponse) => {
    // Frameworks find the server like this, to listen for its upgrades.
    const server: Server = Reflect.get(socket, 'server');
    const taken = once(server, 'connect');
    tunnel = connect(socket.localPort ?? 0, '127.0.0.1').on('error', () => {});
    tunnel.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await taken;
    response.end();
  };
  expect(await replay(application, paid, { secret })).toMatchObject({ status: 200 });
  await vi.waitFor(() => expect(tunnel?.closed).toBe(true));
});

test('no further delivery is sent after one of many has failed', async () => {
  let asked = 0;
  const failing = async () => {
    asked += 1;
    if (asked === 2) throw new Error('the second one');
    await new Promise((resolve) => setTimeout(resolve, 20));
    return new Response();
  };
  const replayed = replay(failing, paid, { secret, duplicate: 9, concurrency: 3 });
  await expect(replayed).rejects.toThrow('the second one');
  expect(asked).toBe(3);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(asked).toBe(3);
});

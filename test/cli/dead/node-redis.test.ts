import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import redis from 'redis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openNodeRedis } from '../../../src/cli/dead/open-store.js';
import { limitsOf } from '../../../src/stores/redis/limits.js';

/** Serves a Redis that does not answer some commands. `ended` resolves when its connection has ended. */
async function serveSilent(silentAt: RegExp) {
  let onAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      onAsked();
      const text = piece.toString('latin1');
      if (silentAt.test(text)) return;
      // Each command is a list.
      socket.write('+OK\r\n'.repeat(text.match(/^\*\d/gm)?.length ?? 0));
    });
    socket.on('close', () => server.close());
  });
  const ended = once(server, 'close');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, ended };
}

/** Stops the clock of the command. The limits of the client's socket go on, and are too late for these tests. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('a Redis that accepts the connection and does not answer is given up after 10 s', async () => {
  stopTimers();
  const { url, asked, ended } = await serveSilent(/^/);
  const refused = expect(openNodeRedis(redis, url)).rejects.toThrow('within 10000 ms');
  await asked;
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  await ended;
});

test('a Redis that stops answering is given up after 10 s, and its client closes at once', async () => {
  stopTimers();
  const { url, ended } = await serveSilent(/EVAL/);
  const { store, close } = await openNodeRedis(redis, url);
  const refused = expect(store.count({ state: 'dead' })).rejects.toThrow('within 10000 ms');
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  await close();
  await ended;
});

test('node-redis has the limits that the store would miss', async () => {
  const { url } = await serveSilent(/EVAL/);
  const missing: unknown[] = [];
  const spied: typeof redis = {
    ...redis,
    createClient: (options) => {
      const client = redis.createClient(options);
      missing.push(limitsOf(client)?.missing);
      return client;
    },
  };
  const { close } = await openNodeRedis(spied, url);
  await close();
  expect(missing).toEqual([[]]);
});

test('a lost connection is reported, although an earlier client cannot be closed then', async () => {
  const earlier: typeof redis = {
    ...redis,
    createClient: (options) =>
      Object.assign(redis.createClient(options), {
        destroy() {
          throw new Error('The client is closed');
        },
      }),
  };
  await expect(openNodeRedis(earlier, 'redis://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED');
});

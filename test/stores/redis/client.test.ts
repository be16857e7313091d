import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient, createClientPool } from 'redis';
import { type RedisClient, redisStore } from 'storefront-webhooks/redis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { quiet } from './clients.js';
import { newDelivery, terms } from './deliveries.js';

describe('an object that is not a client', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'redis://localhost'],
    ['an object', {}],
    ['an object that can only send commands', { sendCommand: () => {} }],
    ['an object without script hashes', { eval: () => {} }],
  ])('is rejected: %s', (_, client) => {
    // @ts-expect-error: none of these is a client.
    expect(() => redisStore(client)).toThrow(
      expect.objectContaining({
        code: 'client_invalid',
        message: expect.stringMatching(/ioredis.*node-redis.*upstash/),
      }),
    );
  });
});

test('a client of node-redis 3, whose methods take callbacks, is rejected by its name and version', () => {
  const older = { eval() {}, evalsha() {}, sendCommand() {}, send_command() {} };
  // @ts-expect-error: its types differ, too.
  expect(() => redisStore(older)).toThrow(
    expect.objectContaining({
      code: 'version_unsupported',
      message: expect.stringContaining(
        'redisStore() needs node-redis 4 or later, and this is node-redis 3 or earlier: npm install redis@latest.',
      ),
    }),
  );
});

test('the types of @upstash/redis are accepted with any options', () => {
  const options = { url: 'http://127.0.0.1:1', token: 'token', automaticDeserialization: false };
  expect(redisStore(new Upstash(options)).durable).toBe(true);
});

const UPSTASH = {
  url: 'http://127.0.0.1:1',
  token: 'token',
  signal: () => AbortSignal.timeout(5000),
};

test.each<[string, () => object]>([
  [
    'in a MULTI',
    () => ({ defineCommand: () => {}, eval: async () => {}, evalsha: async () => 'QUEUED' }),
  ],
  ['a pipeline of Upstash', () => new Upstash(UPSTASH).pipeline()],
  ['a legacy() client of node-redis', () => quiet(createClient()).legacy()],
])('a client that returns no reply is rejected at its first use: %s', async (_, make) => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const store = redisStore(make() as RedisClient);
  await expect(store.redrive(newDelivery().key)).rejects.toMatchObject({
    code: 'client_invalid',
    message: expect.stringMatching(
      /not its pipeline\(\), multi\(\) or legacy\(\), not one with legacyMode/,
    ),
  });
  warned.mockRestore();
});

describe('a client of node-redis', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    ['a client', () => createClient()],
    ['a pool', () => createClientPool()],
  ])(
    'that is not connected is rejected at its first use, not when the store is made: %s',
    async (_, make) => {
      vi.spyOn(console, 'warn').mockImplementation(() => {});
      const store = redisStore(make());
      await expect(store.claim(newDelivery(), terms())).rejects.toMatchObject({
        code: 'client_invalid',
        message: expect.stringMatching(
          /not connected, or it was closed: await client\.connect\(\) first/,
        ),
      });
    },
  );

  test.each([
    ['without a listener for errors is logged once', 1],
    ['with a listener for errors is not logged', 0],
  ])('%s', async (_, count) => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    vi.resetModules();
    const { redisStore: newStore } = await import('storefront-webhooks/redis');
    for (let store = 0; store < 2; store++) {
      const client = createClient({
        pingInterval: 1000,
        socket: { socketTimeout: 5000, reconnectStrategy: 100 },
      });
      if (count === 0) quiet(client);
      await expect(newStore(client).redrive(newDelivery().key)).rejects.toThrow();
    }
    const lines = warned.mock.calls.map(([line]) => line);
    expect(lines).toHaveLength(count);
    for (const line of lines) {
      expect(line).toMatch(
        /client of node-redis has no listener for its error event.*client\.on\('error'.*operate\.md#no-error-listener$/,
      );
    }
  });
});

test.each<[string, () => RedisClient]>([
  [
    'ioredis',
    () =>
      new Redis({
        lazyConnect: true,
        socketTimeout: 1000,
        maxRetriesPerRequest: 0,
        retryStrategy: null,
        port: 1,
      }),
  ],
  ['Upstash', () => new Upstash({ ...UPSTASH, retry: false })],
])('nothing is logged for %s, which needs no listener', async (_, make) => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await expect(redisStore(make()).redrive(newDelivery().key)).rejects.toThrow();
  expect(warned).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

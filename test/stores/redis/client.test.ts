import { Redis as Upstash } from '@upstash/redis';
import { createClient, createClientPool, RESP_TYPES } from 'redis';
import { redisStore } from 'storefront-webhooks/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisServer, startRedis, withRedis } from '../../support/redis.js';
import { quiet } from './clients.js';
import { acquire, newDelivery } from './deliveries.js';

describe('a client that is none', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'redis://localhost'],
    ['an object', {}],
    ['one that only sends commands', { sendCommand: () => {} }],
    ['one that knows no hashes of scripts', { eval: () => {} }],
  ])('is refused: %s', (_, client) => {
    // @ts-expect-error: none of these is a client.
    expect(() => redisStore(client)).toThrow(
      expect.objectContaining({
        code: 'client_invalid',
        message: expect.stringMatching(/ioredis.*node-redis.*upstash/),
      }),
    );
  });
});

test('the types of @upstash/redis are taken, whatever its options', () => {
  const options = { url: 'http://127.0.0.1:1', token: 'token', automaticDeserialization: false };
  expect(redisStore(new Upstash(options)).durable).toBe(true);
});

test('says so where the client gives no reply', async () => {
  const silent = { defineCommand: () => {}, eval: async () => {}, evalsha: async () => 'QUEUED' };
  await expect(redisStore(silent).redrive(newDelivery().key)).rejects.toMatchObject({
    code: 'store_invalid',
  });
});

withRedis('clients of node-redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  test('that decode replies in their own way, and pools, are taken', async () => {
    const buffers = createClient({
      url: server.url,
      commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    });
    const pool = createClientPool({ url: server.url });
    await Promise.all([quiet(buffers).connect(), quiet(pool).connect()]);
    try {
      for (const other of [redisStore(buffers), redisStore(pool)]) {
        const delivery = newDelivery();
        const { fence } = await acquire(other, delivery);
        expect(await other.complete(delivery.key, fence, 60_000)).toBe(true);
      }
    } finally {
      buffers.destroy();
      pool.destroy();
    }
  });
});

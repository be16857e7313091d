import { Redis as Upstash } from '@upstash/redis';
import { redisStore } from 'storefront-webhooks/redis';
import { describe, expect, test } from 'vitest';
import { newDelivery } from './deliveries.js';

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

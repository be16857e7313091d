import { Redis as Upstash } from '@upstash/redis';
import { redisStore } from 'storefront-webhooks/redis';
import { describe, expect, test } from 'vitest';
import { newDelivery } from './deliveries.js';

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

test('a client that returns no reply is reported', async () => {
  const silent = { defineCommand: () => {}, eval: async () => {}, evalsha: async () => 'QUEUED' };
  await expect(redisStore(silent).redrive(newDelivery().key)).rejects.toMatchObject({
    code: 'store_invalid',
  });
});

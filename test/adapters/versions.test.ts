import fastify from 'fastify';
import { Hono } from 'hono';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toFastify } from 'storefront-webhooks/fastify';
import { toHono } from 'storefront-webhooks/hono';
import { expect, test } from 'vitest';
import { SECRET } from './apps/inside/contract.js';

const receiver = createReceiver({ secret: SECRET, store: memoryStore() });

test.each([
  ['3.10.0', 'Fastify 3.10.0'],
  [undefined, 'Fastify 2 or earlier'],
])('toFastify rejects Fastify %s when it registers', async (version, found) => {
  const app = fastify();
  // The plugin gets an instance without the method that Fastify 3.20 and later have.
  app.register((instance, options, done) => {
    const older = Object.create(instance, {
      version: { value: version },
      removeAllContentTypeParsers: { value: undefined },
    });
    return toFastify(receiver)(older, options, done);
  });
  await expect(async () => app.ready()).rejects.toMatchObject({
    code: 'version_unsupported',
    message: expect.stringContaining(
      `toFastify() needs Fastify 4 or later, and this is ${found}: npm install fastify@latest.`,
    ),
  });
});

test('toHono rejects Hono 2, whose context has no Request of its own', async () => {
  const errors: unknown[] = [];
  const app = new Hono<{ Bindings: object }>().onError((error, context) => {
    errors.push(error);
    return context.text('', 500);
  });
  app.post('/webhooks', async (context, next) => {
    Object.defineProperty(context, 'req', { value: {} });
    return toHono(receiver)(context, next);
  });
  expect((await app.request('/webhooks', { method: 'POST' })).status).toBe(500);
  expect(errors).toEqual([
    expect.objectContaining({
      code: 'version_unsupported',
      message: expect.stringContaining(
        'toHono() needs Hono 3 or later, and this is Hono 2 or earlier: npm install hono@latest.',
      ),
    }),
  ]);
});

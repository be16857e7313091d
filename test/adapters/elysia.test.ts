import { Elysia } from 'elysia';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { toElysia } from 'storefront-webhooks/elysia';
import { replay } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { SECRET } from './apps/inside/contract.js';

function setUp() {
  const onError = vi.fn();
  const options = { secret: SECRET, store: memoryStore(), hooks: { onError, onRejected() {} } };
  return { receiver: createReceiver(options).on('*', () => {}), onError };
}

const post = (app: { handle(request: Request): Promise<Response> }) =>
  replay((request: Request) => app.handle(request), 'order:paid', {
    secret: SECRET,
    path: '/webhooks',
  });

test("with aot: false, which ignores 'none', the error names the option to change", async () => {
  const { receiver, onError } = setUp();
  const app = new Elysia({ aot: false });
  app.post('/webhooks', toElysia(receiver), { parse: 'none' });
  expect(await post(app)).toMatchObject({ status: 500 });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({
    code: 'body_consumed',
    message: expect.stringMatching(/With aot: false, .* pass \{ parse: \(\) => true \}/),
  });
});

test.each([true, false])('with aot: %s, parse: () => true leaves the body unread', async (aot) => {
  const { receiver } = setUp();
  const app = new Elysia({ aot });
  app.post('/webhooks', toElysia(receiver), { parse: () => true });
  expect(await post(app)).toMatchObject({ status: 200, outcome: 'handled' });
});

// Mounts a receiver in every way that docs/mount.md shows. Compiled in this repository, and with older versions of Hono.
import { type Handler, Hono, type MiddlewareHandler } from 'hono';
import { createReceiver } from 'storefront-webhooks';
import { toHono } from 'storefront-webhooks/hono';

type Env = { SECRET: string };

const receiver = createReceiver({ secret: 'a secret for tests' });
const middleware: MiddlewareHandler = async (_, next) => next();

export const handler: Handler = toHono(receiver);
export const boundHandler: Handler<{ Bindings: Env }> = toHono(receiver);
export const bound = toHono(({ SECRET }: Env) => createReceiver({ secret: SECRET }));

new Hono().post('/webhooks', toHono(receiver));
new Hono().post('/webhooks', bound);
new Hono().all(
  '/webhooks',
  middleware,
  toHono(() => receiver),
);
new Hono().on('POST', '/webhooks', toHono(receiver));
new Hono<{ Bindings: Env }>().post('/webhooks', toHono(receiver));
new Hono<{ Bindings: Env }>().post(
  '/webhooks',
  toHono(({ SECRET }: Env) => createReceiver({ secret: SECRET })),
);

// @ts-expect-error: a number is no receiver.
toHono(5);

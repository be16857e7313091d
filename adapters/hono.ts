import type { Context, Handler } from 'hono';
import { tooOld } from '../src/errors/too-old.js';
import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { respond } from './shared/web-response.js';

/**
 * Mounts a receiver in Hono 3 or 4, on any runtime that Hono supports.
 *
 * @param receiver - A receiver or goods, or a function that creates one, once, from the `env` of the first
 *   request, which holds the secrets of a Worker.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.post('/webhooks', toHono(receiver));
 *
 * @example
 * // On Workers: created from the bindings.
 * import { Hono } from 'hono';
 *
 * const app = new Hono<{ Bindings: Env }>();
 * app.post('/webhooks', toHono((env: Env) => createReceiver({ secret: env.WEBHOOK_SECRET })));
 */
export function toHono<Env extends object = object>(
  receiver: ReceiverSource<Env>,
): Handler<{ Bindings: Env }> {
  const receive = toReceive(receiver);
  return (context) =>
    respond(
      (asked) => receive(asked, context.env),
      context.req.raw ?? refuse(),
      parsedBodyHint,
      (promise) => waitUntil(context, promise),
    );
}

/** @throws {UsageError} `version_unsupported` */
function refuse(): never {
  throw tooOld('toHono()', 'Hono 3', 'Hono 2 or earlier', 'hono@latest');
}

/** Keeps a Worker running until the promise settles. */
function waitUntil(context: Context, promise: Promise<unknown>): void {
  try {
    context.executionCtx.waitUntil(promise);
  } catch {
    // Other runtimes have no execution context and need none.
  }
}

const parsedBodyHint =
  "Move app.post('/webhooks', toHono(receiver)) above every middleware and validator that reads the body.";

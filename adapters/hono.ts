import type { Context, Handler } from 'hono';
import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import { respond } from './shared/web-response.js';

/**
 * Mounts a receiver in Hono, on any of its runtimes.
 *
 * @param receiver - A receiver or goods; or a function that makes one, once, from the `env` of the first request,
 *   where Workers keep their secrets.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
 *
 * @example
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.post('/webhooks', toHono(receiver));
 *
 * @example
 * // On Workers: made from its bindings.
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
      context.req.raw,
      parsedBodyHint,
      (promise) => waitUntil(context, promise),
    );
}

/** On Workers, what is not finished goes on. */
function waitUntil(context: Context, promise: Promise<unknown>): void {
  try {
    context.executionCtx.waitUntil(promise);
  } catch {
    // Other runtimes have no execution context, and need none.
  }
}

const parsedBodyHint =
  "Move app.post('/webhooks', toHono(receiver)) above every middleware and validator that reads the body.";

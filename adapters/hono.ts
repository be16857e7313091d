import type { Context, Handler } from 'hono';
import { tooOld } from '../src/errors/too-old.js';
import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import type { ReadBody } from '../src/request/request.js';
import { toUtf8 } from '../src/runtime/bytes.js';
import { hasMethod, type LambdaContext, StoppingHost, waitUntilOf } from './shared/late-work.js';
import { respond } from './shared/web-response.js';

/**
 * Mounts a receiver in Hono 3 or 4, on any runtime that Hono supports. On a host that stops with the response, and is not
 * Cloudflare, Lambda or Netlify, call `app.fetch(request, env, context)` with a context that has the host's `waitUntil`.
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
  // Not Handler<{ Bindings: Env }>: Hono 3 and early Hono 4 require bindings with an index signature.
): Handler {
  const receive = toReceive(receiver);
  const host = new StoppingHost();
  return (context) =>
    respond(
      async (asked) => {
        const body = readKept(context) ?? asked.body;
        const lambda = findLambda(context);
        if (lambda) await host.begin();
        const received = await receive({ ...asked, body }, context.env);
        return lambda ? host.end(received, lambda) : received;
      },
      context.req.raw ?? refuse(),
      parsedBodyHint,
      (promise) => waitUntil(context, promise),
    );
}

/** @throws {UsageError} `version_unsupported` */
function refuse(): never {
  throw tooOld('toHono()', 'Hono 3', 'Hono 2 or earlier', 'hono@latest');
}

/**
 * Reads what Hono keeps for a validator that comes before. If Hono keeps only parsed values, as it does for a validator
 * from 4.2 to 4.8.3, the bytes are gone.
 */
function readKept({ req }: Context): ReadBody | undefined {
  const { arrayBuffer, blob, text } = req.bodyCache ?? {};
  if (arrayBuffer) return async () => new Uint8Array(await arrayBuffer);
  if (blob) return async () => new Uint8Array(await (await blob).arrayBuffer());
  return text === undefined ? undefined : async () => toUtf8(await text);
}

/** Keeps a Worker or a function of Netlify running until the promise settles. */
function waitUntil(context: Context, promise: Promise<unknown>): void {
  try {
    context.executionCtx.waitUntil(promise);
  } catch {
    // Other runtimes have no execution context. The context of Netlify is in `env`.
    waitUntilOf(context.env?.context)?.(promise);
  }
}

/** Returns the context of Lambda, which Hono's adapters for Lambda put into `env`. */
function findLambda({ env }: Context): Partial<LambdaContext> | undefined {
  const contexts: unknown[] = [env?.lambdaContext, env?.context];
  return contexts.find((one): one is LambdaContext => hasMethod(one, 'getRemainingTimeInMillis'));
}

const parsedBodyHint =
  "Move app.post('/webhooks', toHono(receiver)) above every middleware and validator that reads the body.";

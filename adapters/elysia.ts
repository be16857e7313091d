import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { waitUntilOf } from './shared/late-work.js';
import { respond } from './shared/web-response.js';

/**
 * Mounts a receiver in Elysia 1.3 or later, on a route with `{ parse: 'none' }`: on Bun, on Deno, or on Node with
 * `@elysiajs/node`. On a host that stops with the response, add its `waitUntil` to the context:
 * `new Elysia().decorate('waitUntil', waitUntil)`. With `aot: false`, Elysia ignores `'none'`: pass
 * `{ parse: () => true }`.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * import { Elysia } from 'elysia';
 *
 * const app = new Elysia().post('/webhooks', toElysia(receiver), { parse: 'none' });
 */
export function toElysia(
  receiver: ReceiverSource,
): (context: { readonly request: Request; readonly waitUntil?: unknown }) => Promise<Response> {
  const receive = toReceive(receiver);
  return (context) => respond(receive, context.request, parsedBodyHint, waitUntilOf(context));
}

const parsedBodyHint =
  "Mount it as app.post('/webhooks', toElysia(receiver), { parse: 'none' }), which Elysia knows from 1.3 on, " +
  "and above every hook that reads the body. With aot: false, Elysia ignores 'none': pass { parse: () => true }.";

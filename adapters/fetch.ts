import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { waitUntilOf } from './shared/late-work.js';
import { respond } from './shared/web-response.js';

/**
 * Makes a fetch handler from a receiver: for Bun, Deno, SvelteKit, Astro, Remix, and any other framework that
 * passes a `Request` and expects a `Response`. For Nitro on Node, use `toNodeHandler`.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @returns A handler. On a host that stops with the response, pass it as its second argument an object with the
 *   `waitUntil` of the host. Anything else there is ignored.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * Bun.serve({ routes: { '/webhooks': toFetch(receiver) } });
 */
export function toFetch(
  receiver: ReceiverSource,
): (request: Request, context?: unknown) => Promise<Response> {
  const receive = toReceive(receiver);
  // The context has a default value, because some callers take a function with two parameters for a handler of Node.
  return (request, context = undefined) =>
    respond(receive, request, parsedBodyHint, waitUntilOf(context));
}

const parsedBodyHint =
  'Pass the request to toFetch(receiver) before anything calls request.json() or request.text(), or call ' +
  'those on request.clone().';

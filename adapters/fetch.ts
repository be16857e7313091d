import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { respond } from './shared/web-response.js';

/**
 * Makes a fetch handler from a receiver: for Bun, Deno, SvelteKit, Astro, Remix, and any other framework that
 * passes a `Request` and expects a `Response`. For Nitro on Node, use `toNodeHandler`.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * Bun.serve({ routes: { '/webhooks': toFetch(receiver) } });
 */
export function toFetch(receiver: ReceiverSource): (request: Request) => Promise<Response> {
  const receive = toReceive(receiver);
  return (request) => respond(receive, request, parsedBodyHint);
}

const parsedBodyHint =
  'Pass the request to toFetch(receiver) before anything calls request.json() or request.text(), or call ' +
  'those on request.clone().';

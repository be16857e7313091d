import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import { respond } from './shared/web-response.js';

/**
 * Makes a fetch handler from a receiver: for Bun, Deno, SvelteKit, Astro, Remix, and whatever else hands
 * over a `Request` and wants a `Response`. Nitro on Node takes `toNodeHandler`.
 *
 * @param receiver - A receiver or goods, or a function that makes one at the first request, within 10 s.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
 *
 * @example
 * Bun.serve({ routes: { '/webhooks': toFetch(receiver) } });
 */
export function toFetch(receiver: ReceiverSource): (request: Request) => Promise<Response> {
  const receive = toReceive(receiver);
  return (request) => respond(receive, request, parsedBodyHint);
}

const parsedBodyHint =
  'Hand the request to toFetch(receiver) before anything calls request.json() or request.text(), or give ' +
  'those request.clone().';

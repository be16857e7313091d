import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import { respond } from './shared/web-response.js';

/**
 * Makes a route handler of Next.js's App Router, for the Node and the edge runtime.
 *
 * @param receiver - A function that makes the receiver at the first request, because a build has no
 *   secrets; or a receiver.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
 *
 * @example
 * // app/webhooks/route.ts
 * export const POST = toNext(() => createReceiver({ secret: process.env.WEBHOOK_SECRET }));
 */
export function toNext(receiver: ReceiverSource): (request: Request) => Promise<Response> {
  const receive = toReceive(receiver);
  return (request) => respond(receive, request, parsedBodyHint);
}

const parsedBodyHint =
  'Export the handler itself, export const POST = toNext(receiver), or call it before request.json() and ' +
  'request.text().';

import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { respond } from './shared/web-response.js';

/**
 * Makes a route handler for the App Router of Next.js, on the Node and the edge runtime.
 *
 * @param receiver - A function that creates the receiver at the first request, because a build has no
 *   secrets; or a receiver.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
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

import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import type { NodeRequest, NodeResponse } from './shared/node-request.js';
import { respond } from './shared/node-response.js';

export type { NodeRequest, NodeResponse };

/**
 * Makes an API route of Next.js's Pages Router. The file has to turn off Next's body parser itself:
 * Next reads `config` from the file's text, so it cannot come from here.
 *
 * @param receiver - A function that makes the receiver at the first request, because a build has no
 *   secrets; or a receiver.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
 *
 * @example
 * // pages/api/webhooks.ts
 * export const config = { api: { bodyParser: false } };
 * export default toNextPages(() => createReceiver({ secret: process.env.WEBHOOK_SECRET }));
 */
export function toNextPages(
  receiver: ReceiverSource,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receive = toReceive(receiver);
  return (request, response) => respond(receive, request, response, parsedBodyHint);
}

const parsedBodyHint =
  'Add this line to the file of the API route, as it stands here: ' +
  'export const config = { api: { bodyParser: false } };';

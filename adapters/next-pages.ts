import { type Receive, type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { StoppingHost } from './shared/late-work.js';
import type { NodeRequest, NodeResponse } from './shared/node-request.js';
import { respond } from './shared/node-response.js';

export type { NodeRequest, NodeResponse };

/**
 * Makes an API route for the Pages Router of Next.js. The file of the route has to turn off Next's body parser
 * itself: Next reads `config` from the text of the file, so this package cannot provide it.
 *
 * @param receiver - A function that creates the receiver at the first request, because a build has no
 *   secrets; or a receiver.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
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
  // Next hands no work of an API route over to its platform, which may stop with the response.
  const host = new StoppingHost();
  const receiveAll: Receive = async (asked) => {
    await host.begin();
    return host.end(await receive(asked));
  };
  return (request, response) => respond(receiveAll, request, response, parsedBodyHint);
}

const parsedBodyHint =
  'Add this line, exactly as written here, to the file of the API route: ' +
  'export const config = { api: { bodyParser: false } }; If the line is there, a server in front of Next has read ' +
  'the body, as express.json() does: leave the path of this route out of it.';

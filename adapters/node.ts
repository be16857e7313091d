import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import type { NodeRequest, NodeResponse } from './shared/node-request.js';
import { respond } from './shared/node-response.js';

export type { NodeRequest, NodeResponse };

/**
 * Makes a Node request listener from a receiver: for `http.createServer`, `http2` in its compatibility
 * mode, and any framework that passes Node's own request and response to a handler.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @returns A listener whose promise resolves when the response has been handed to Node. It never rejects.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * import { createServer } from 'node:http';
 *
 * const server = createServer(toNodeHandler(receiver)).listen(3000);
 */
export function toNodeHandler(
  receiver: ReceiverSource,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receive = toReceive(receiver);
  return (request, response) => respond(receive, request, response, parsedBodyHint);
}

const parsedBodyHint =
  'Call the handler of toNodeHandler(receiver) before anything reads the request, or keep the bytes: ' +
  'request.rawBody = Buffer.concat(chunks).';

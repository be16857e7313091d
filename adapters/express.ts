import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import type { NodeRequest, NodeResponse } from './shared/node-request.js';
import { respond } from './shared/node-response.js';

export type { NodeRequest, NodeResponse };

/**
 * Mounts a receiver in Express 4 or 5: with `app.post`, `app.use`, or on a Router, and above
 * `app.use(express.json())`.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * app.post('/webhooks', toExpress(receiver));
 */
export function toExpress(
  receiver: ReceiverSource,
): (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void {
  const receive = toReceive(receiver);
  return (request, response, next) => {
    respond(receive, request, response, parsedBodyHint).catch(next);
  };
}

const parsedBodyHint =
  "Move app.post('/webhooks', toExpress(receiver)) above app.use(express.json()) and every other body " +
  'parser, or let the parser keep the bytes: ' +
  'express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } }).';

import type { ServerResponse } from 'node:http';
import { answer, type NodeRequest } from './node.js';
import { type ReceiverSource, toProvider } from './receiver.js';

/**
 * Mounts a receiver in Express 4 or 5: with `app.post`, `app.use`, or on a Router, and above
 * `app.use(express.json())`.
 *
 * @param receiver - A receiver, or a function that makes one at the first request.
 *
 * @example
 * app.post('/webhooks', toExpress(receiver));
 */
export function toExpress(
  receiver: ReceiverSource,
): (request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  const provide = toProvider(receiver);
  return async (request, response, next) => {
    try {
      await answer(await provide(), request, response, HINT);
    } catch (error) {
      next(error);
    }
  };
}

const HINT =
  "Move app.post('/webhooks', toExpress(receiver)) above app.use(express.json()), or let the parser " +
  'keep the bytes: express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } }).';

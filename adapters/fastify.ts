import type { FastifyPluginCallback } from 'fastify';
import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import { readRequest } from './shared/node-request.js';
import { toNodeResponse } from './shared/node-response.js';

/**
 * Makes a Fastify 5 plugin from a receiver. It takes the raw body inside its own prefix only; all other
 * routes go on parsing theirs.
 *
 * @param receiver - A receiver or goods, or a function that makes one at the first request, within 10 s.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
 *
 * @example
 * import Fastify from 'fastify';
 *
 * const app = Fastify();
 * app.register(toFastify(receiver), { prefix: '/webhooks' });
 */
export function toFastify(receiver: ReceiverSource): FastifyPluginCallback {
  const receive = toReceive(receiver);
  return (app, _options, registered) => {
    app.removeAllContentTypeParsers();
    // A malformed type would be refused, and what the body is does not hang on it.
    app.addHook('onRequest', (request, _reply, next) => {
      request.raw.headers['content-type'] = 'application/octet-stream';
      next();
    });
    // Leaves the body where it is: the receiver reads it, if the headers deserve it.
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    app.all('/', async (request, reply) => {
      const asked = readRequest(request.raw, reply.raw, parsedBodyHint, request);
      const { status, headers, body } = await toNodeResponse(await receive(asked), request.raw);
      return reply.code(status).headers(headers).send(body);
    });
    registered();
  };
}

const parsedBodyHint =
  'A hook has read it. Register toFastify(receiver) outside of the plugin with that preParsing hook, or let ' +
  'the hook keep the bytes as a Buffer: request.rawBody.';

import type { FastifyPluginCallback } from 'fastify';
import { tooOld } from '../src/errors/too-old.js';
import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { readRequest } from './shared/node-request.js';
import { toNodeResponse } from './shared/node-response.js';

/**
 * Makes a plugin for Fastify 4 or 5 from a receiver. The plugin takes the raw body inside its own prefix only; all
 * other routes still parse theirs.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else. `ready()` and `listen()` of
 *   a Fastify that is too old reject with `version_unsupported`.
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
    if (typeof app.removeAllContentTypeParsers !== 'function') {
      const found = `Fastify ${app.version ?? '2 or earlier'}`;
      // Thrown, it would end the process.
      return registered(tooOld('toFastify()', 'Fastify 4', found, 'fastify@latest'));
    }
    app.removeAllContentTypeParsers();
    // Fastify would reject a malformed content type, so its parser sees another one.
    const contentTypes = new WeakMap<object, string>();
    app.addHook('onRequest', ({ raw }, _reply, next) => {
      const { 'content-type': contentType } = raw.headers;
      if (contentType !== undefined) contentTypes.set(raw, contentType);
      raw.headers['content-type'] = 'application/octet-stream';
      next();
    });
    app.addHook('preValidation', ({ raw }, _reply, next) => {
      const contentType = contentTypes.get(raw);
      if (contentType === undefined) delete raw.headers['content-type'];
      else raw.headers['content-type'] = contentType;
      next();
    });
    // Leaves the body unread: the receiver reads it after it has checked the headers.
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
  'A hook has read the body. Register toFastify(receiver) outside the plugin with that preParsing hook, or let ' +
  'the hook keep the bytes as a Buffer: request.rawBody.';

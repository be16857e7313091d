import type { Middleware } from 'koa';
import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import { type NodeRequest, readRequest } from './shared/node-request.js';
import { toNodeResponse } from './shared/node-response.js';

/**
 * Mounts a receiver in Koa: with `app.use` or on a route of a router, and above any body parser.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * import Router from '@koa/router';
 * import Koa from 'koa';
 *
 * const router = new Router().post('/webhooks', toKoa(receiver));
 * const app = new Koa().use(router.routes());
 */
export function toKoa(receiver: ReceiverSource): Middleware {
  const receive = toReceive(receiver);
  return async (context) => {
    const request: NodeRequest = context.req;
    const asked = readRequest(request, context.res, parsedBodyHint, context.request);
    const { status, headers, body } = await toNodeResponse(await receive(asked), request);
    context.status = status;
    context.body = body;
    context.set(headers);
  };
}

const parsedBodyHint =
  "Move router.post('/webhooks', toKoa(receiver)) above app.use(bodyParser()) and every other body parser.";

import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LambdaEvent, toLambda } from 'storefront-webhooks/lambda';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = {
  name: 'toLambda, payload format 2.0',
  serve: (contract) => serveLambda(contract, toEventV2),
  parsed: 'cannot happen',
  buffers: true,
};

/** Simulates function URLs and API Gateway: a request becomes an event, and the result a response. */
export function serveLambda(
  { receiver, lazy, down, goods }: Contract,
  toEvent: (request: IncomingMessage, body: Buffer) => LambdaEvent,
) {
  const handlers = new Map([
    ['/webhooks', toLambda(receiver)],
    ['/lazy', toLambda(lazy)],
    ['/down', toLambda(down)],
    ['/goods', toLambda(goods)],
  ]);
  return listen(
    createServer(async (request, response) => {
      const body = await buffer(request).catch(() => undefined);
      if (!body) return;
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const handler = handlers.get(pathname);
      if (!handler) return response.end(body);
      const result = await handler(toEvent(request, body));
      const encoding = result.isBase64Encoded ? 'base64' : 'utf8';
      response.writeHead(result.statusCode, result.headers).end(result.body, encoding);
    }),
  );
}

function toEventV2(request: IncomingMessage, body: Buffer): LambdaEvent {
  const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
  const headers = Object.entries(request.headersDistinct).map(([name, values = []]) => [
    name,
    values.join(','),
  ]);
  return {
    headers: Object.fromEntries(headers),
    requestContext: { http: { method: request.method ?? '' } },
    rawPath: pathname,
    rawQueryString: search.slice(1),
    ...(body.length > 0 && { body: body.toString('base64') }),
    isBase64Encoded: body.length > 0,
  };
}

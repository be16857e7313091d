import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LambdaEvent, toLambda } from 'storefront-webhooks/lambda';
import type { Application, Contract } from './inside/contract.js';
import { listen } from './inside/listen.js';

export const application: Application = {
  name: 'toLambda, payload format 2.0',
  serve: (contract) => serveLambda(contract, toEventV2),
  parsed: /without a middleware such as httpJsonBodyParser/,
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
    ['/parsed', toLambdaBehindParser(receiver)],
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

/** A middleware puts the parsed body in place of its text, as those of Middy do. */
function toLambdaBehindParser(receiver: Contract['receiver']): ReturnType<typeof toLambda> {
  const handler = toLambda(receiver);
  return (event) => {
    const encoding = event.isBase64Encoded ? 'base64' : 'utf8';
    const body = JSON.parse(Buffer.from(event.body ?? '', encoding).toString());
    return handler({ ...event, body });
  };
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

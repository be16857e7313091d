import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LambdaEvent, toLambda } from 'storefront-webhooks/lambda';
import type { Contract } from './contract.js';
import { listen } from './listen.js';

export const serve = (contract: Contract) => serveLambda(contract, toEventV2);
export const serveV1 = (contract: Contract) => serveLambda(contract, toEventV1);

/** Does what function URLs and API Gateway do: a request becomes an event, and its result an answer. */
function serveLambda(
  { receiver, lazy, down }: Contract,
  toEvent: (request: IncomingMessage, body: Buffer) => LambdaEvent,
) {
  const handlers = new Map([
    ['/webhooks', toLambda(receiver)],
    ['/lazy', toLambda(lazy)],
    ['/down', toLambda(down)],
  ]);
  return listen(
    createServer(async (request, response) => {
      const body = await buffer(request).catch(() => undefined);
      if (!body) return;
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const handler = handlers.get(pathname);
      if (!handler) return response.end(body);
      const result = await handler(toEvent(request, body));
      response.writeHead(result.statusCode, result.headers).end(result.body);
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

function toEventV1(request: IncomingMessage, body: Buffer): LambdaEvent {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  const names = [...new Set(searchParams.keys())];
  const headers = Object.entries(request.headersDistinct);
  const isText = Buffer.from(body.toString()).equals(body);
  return {
    httpMethod: request.method ?? '',
    path: pathname,
    queryStringParameters: Object.fromEntries(searchParams),
    multiValueQueryStringParameters: Object.fromEntries(
      names.map((name) => [name, searchParams.getAll(name)]),
    ),
    headers: Object.fromEntries(headers.map(([name, values]) => [name, values?.at(-1)])),
    multiValueHeaders: Object.fromEntries(headers),
    body: body.length === 0 ? null : body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

import type { IncomingMessage } from 'node:http';
import type { LambdaEvent } from 'storefront-webhooks/lambda';
import type { Application } from './inside/contract.js';
import { application as format2, serveLambda } from './lambda.js';

export const application: Application = {
  ...format2,
  name: 'toLambda, payload format 1.0',
  serve: (contract) => serveLambda(contract, toEventV1),
};

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

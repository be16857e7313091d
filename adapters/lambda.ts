import type { UsageErrorCode, WebhookRequest } from '../src/index.js';
import { runsOn } from '../src/stores/platform.js';
import type { LambdaEvent } from './shared/lambda-event.js';
import { type ReceiverSource, toReceive } from './shared/receiver.js';

export type { LambdaEvent };

/** What Lambda sends as the answer, in every format. */
export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: boolean;
}

/**
 * Makes a handler of AWS Lambda from a receiver: behind a function URL, API Gateway or a load balancer.
 *
 * @param receiver - A receiver, or a function that makes one at the first request, within 10 s.
 * @returns A handler. It throws a TypeError at an event that is no HTTP request, such as one of a queue.
 * @throws {TypeError} `receiver_invalid` where it is given neither.
 *
 * @example
 * export const handler = toLambda(receiver);
 */
export function toLambda(receiver: ReceiverSource): (event: LambdaEvent) => Promise<LambdaResult> {
  const receive = toReceive(receiver);
  runsOn('instances');
  return async (event) => {
    const { status, headers, body } = await receive(readEvent(event));
    return {
      statusCode: status,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      body,
      isBase64Encoded: false,
    };
  };
}

function readEvent(event: LambdaEvent): WebhookRequest {
  const method = event?.requestContext?.http?.method ?? event?.httpMethod;
  if (method === undefined) {
    // To a queue, any answer would say that its message was handled.
    const message =
      'toLambda() got an event that is no HTTP request. Give this function no other trigger than a ' +
      'function URL, API Gateway or a load balancer.';
    const code: UsageErrorCode = 'event_invalid';
    throw Object.assign(new TypeError(message), { code });
  }
  const query = event.rawQueryString ?? writeQuery(event);
  return {
    method,
    url: `${event.rawPath ?? event.path ?? ''}${query && `?${query}`}`,
    headers: { ...event.headers, ...event.multiValueHeaders },
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/** The query of a format that has it in pieces. */
function writeQuery(event: LambdaEvent): string {
  const pieces = { ...event.queryStringParameters, ...event.multiValueQueryStringParameters };
  const pairs = Object.entries(pieces).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  // Load balancers leave them as they were sent.
  if (event.requestContext?.elb) return pairs.map((pair) => pair.join('=')).join('&');
  return new URLSearchParams(pairs).toString();
}

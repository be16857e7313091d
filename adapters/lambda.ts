import { UsageError } from '../src/errors.js';
import { type ReceiverSource, toReceive } from '../src/receiver-source.js';
import type { WebhookRequest } from '../src/request/request.js';
import { runsOn } from '../src/stores/platform.js';

/** The event of a function URL, of API Gateway (payload formats 1.0 and 2.0), or of a load balancer. */
export interface LambdaEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** In the formats that have it, `headers` holds only the last of several values. */
  readonly multiValueHeaders?: Values | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean;
  readonly httpMethod?: string;
  readonly path?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly queryStringParameters?: Record<string, string | undefined> | null | undefined;
  readonly multiValueQueryStringParameters?: Values | null | undefined;
  readonly requestContext?: {
    readonly http?: { readonly method: string };
    // Not read: it makes this fit the types of format 1.0.
    readonly httpMethod?: string;
    readonly elb?: unknown;
  };
}

type Values = Readonly<Record<string, readonly string[] | undefined>>;

/** What Lambda sends as the response, in every format. */
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
 * @returns A handler. It throws a UsageError, `event_invalid`, at an event that is no HTTP request, such
 *   as one of a queue.
 * @throws {UsageError} `receiver_invalid` where it is given neither.
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
      ...(typeof body === 'string' ? { body, isBase64Encoded: false } : writeBytes(body)),
    };
  };
}

/** As text where they are any: a REST API of API Gateway hands base64 on as it is, unless it is set up for it. */
function writeBytes(bytes: Uint8Array): Pick<LambdaResult, 'body' | 'isBase64Encoded'> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = buffer.toString('utf8');
  return Buffer.from(text).equals(buffer)
    ? { body: text, isBase64Encoded: false }
    : { body: buffer.toString('base64'), isBase64Encoded: true };
}

function readEvent(event: LambdaEvent): WebhookRequest {
  const method = event?.requestContext?.http?.method ?? event?.httpMethod;
  if (method === undefined) {
    // To a queue, any response would say that its message was handled.
    throw new UsageError(
      'event_invalid',
      'toLambda() got an event that is no HTTP request. Give this function no other trigger than a ' +
        'function URL, API Gateway or a load balancer.',
    );
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

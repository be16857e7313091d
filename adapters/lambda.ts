import { UsageError } from '../src/errors/errors.js';
import { type ReceiverSource, toReceive } from '../src/process/receiver-source.js';
import type { WebhookRequest } from '../src/request/request.js';
import { runsOn } from '../src/stores/platform.js';
import { type LambdaContext, StoppingHost } from './shared/late-work.js';

export type { LambdaContext };

/** The event of a function URL, of API Gateway (payload formats 1.0 and 2.0), or of a load balancer. */
export interface LambdaEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** Every value of each header. In formats that have this field, `headers` holds only the last value. */
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
    // Not read. The field makes this interface fit the types of format 1.0.
    readonly httpMethod?: string;
    readonly elb?: unknown;
  };
}

type Values = Readonly<Record<string, readonly string[] | undefined>>;

/** The response for Lambda, in every format. */
export interface LambdaResult {
  statusCode: number;
  headers?: Record<string, string>;
  /** Instead of `headers`, for a load balancer with multi-value headers. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: boolean;
}

/**
 * Makes an AWS Lambda handler from a receiver: behind a function URL, API Gateway or a load balancer.
 *
 * @param receiver - A receiver or goods, or a function that creates one within 10 s, at the first request.
 * @returns A handler. It throws a UsageError, `event_invalid`, if an event is not an HTTP request, such as the
 *   event of a queue.
 * @throws {UsageError} `receiver_invalid` if `receiver` is anything else.
 *
 * @example
 * export const handler = toLambda(receiver);
 */
export function toLambda(
  receiver: ReceiverSource,
): (event: LambdaEvent, context?: Partial<LambdaContext>) => Promise<LambdaResult> {
  const receive = toReceive(receiver);
  runsOn('instances');
  const host = new StoppingHost();
  return async (event, context) => {
    const request = readEvent(event);
    await host.begin();
    const { status, headers, body } = await host.end(await receive(request), context);
    return {
      statusCode: status,
      ...writeHeaders({ ...headers, 'content-length': String(Buffer.byteLength(body)) }, event),
      ...(typeof body === 'string' ? { body, isBase64Encoded: false } : writeBytes(body)),
    };
  };
}

/** A load balancer reads the headers of an answer only in the form in which it has sent those of the request. */
function writeHeaders(
  headers: Record<string, string>,
  { requestContext, multiValueHeaders }: LambdaEvent,
): Pick<LambdaResult, 'headers' | 'multiValueHeaders'> {
  if (!requestContext?.elb || !multiValueHeaders) return { headers };
  const lists = Object.entries(headers).map(([name, value]) => [name, [value]]);
  return { multiValueHeaders: Object.fromEntries(lists) };
}

/**
 * Writes the bytes as text if they are valid UTF-8. A REST API of API Gateway returns base64 undecoded, unless it
 * is configured for binary media types.
 */
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
    // Throw, because a queue takes any response as success and deletes its message.
    throw new UsageError(
      'event_invalid',
      'toLambda() got an event that is not an HTTP request. Trigger this function only by a function ' +
        'URL, API Gateway or a load balancer.',
    );
  }
  const query = event.rawQueryString ?? writeQuery(event);
  return {
    method,
    url: `${event.rawPath ?? event.path ?? ''}${query && `?${query}`}`,
    headers: mergeHeaders(event),
    body: readBody(event),
  };
}

/**
 * Merges two views of the same headers. Netlify spells the names differently in each, and a header that is in both
 * with the same value was sent once.
 */
function mergeHeaders({ headers, multiValueHeaders }: LambdaEvent): WebhookRequest['headers'] {
  const listed = Object.entries(multiValueHeaders ?? {});
  const isListed = (name: string, value: unknown) =>
    listed.some(
      ([other, values]) =>
        other.toLowerCase() === name.toLowerCase() && values?.some((each) => each === value),
    );
  const others = Object.entries(headers ?? {}).filter((entry) => !isListed(...entry));
  return { ...Object.fromEntries(others), ...multiValueHeaders };
}

/** Plain JavaScript may pass anything as the body: a middleware replaces the text by the object that it has parsed. */
function readBody({
  body = null,
  isBase64Encoded,
}: Omit<LambdaEvent, 'body'> & { readonly body?: unknown }): WebhookRequest['body'] {
  if (body instanceof Uint8Array) return body;
  if (typeof body !== 'string' && body !== null) return { consumed: parsedBodyHint };
  return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

const parsedBodyHint =
  'Export the handler itself, export const handler = toLambda(receiver), without a middleware such as ' +
  'httpJsonBodyParser() that replaces event.body.';

/** Joins the query, for formats that split it. */
function writeQuery(event: LambdaEvent): string {
  const pieces = { ...event.queryStringParameters, ...event.multiValueQueryStringParameters };
  const pairs = Object.entries(pieces).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  // Load balancers do not decode the values.
  if (event.requestContext?.elb) return pairs.map((pair) => pair.join('=')).join('&');
  return new URLSearchParams(pairs).toString();
}

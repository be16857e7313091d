import { UsageError } from '../errors.js';
import { explained } from '../explained.js';
import { Rejection, type RejectionCode } from '../outcome.js';
import { isBytes, nameType } from './bytes.js';
import { isSignature } from './signature.js';

/** A Fetch `Headers`, or a plain object such as Node's `req.headers`; names in any case. */
export type RequestHeaders =
  | {
      get(name: string): string | null;
      forEach?(each: (value: string, name: string) => void): void;
    }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** One request, free of any framework. */
export interface WebhookRequest {
  readonly method: string;
  /** Path and query, as they were sent: for a `secret` function and for handlers. */
  readonly url?: string | undefined;
  readonly headers: RequestHeaders;
  /**
   * The bytes as received, or a function that reads them. The function is called only for a request
   * that deserves it, and should stop at `limit` bytes with an error whose `status` is 413, and where
   * the bytes come too slowly with one whose `status` is 408.
   * `{ consumed }` says that the framework has already parsed the body, and which line to change.
   */
  readonly body:
    | Uint8Array
    | ((limit: number) => Promise<Uint8Array>)
    | { readonly consumed: string };
  /** Settles when the response has left, or cannot leave any more: `close()` waits for it. */
  readonly responseSent?: PromiseLike<unknown> | undefined;
}

/** Where a delivery was sent, and with what. Nothing of it is signed: who holds one delivery can send it to anywhere. */
export interface UnsignedRequest {
  /** Without the query, as it was sent, such as `/webhooks`; empty where it is not known. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By their names in lower case, without those that say who somebody is, such as `cookie`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The three headers of a webhook (specification: Events). Only the signature proves anything. */
export interface WebhookHeaders {
  /** Absent where the signed body may name the event. */
  readonly event: string | undefined;
  readonly signature: string;
  /** Absent where the request names no delivery. */
  readonly id: string | undefined;
  readonly outcome?: undefined;
}

/** The body of a webhook. */
export interface RawBody {
  readonly bytes: Uint8Array;
  readonly outcome?: undefined;
}

/** What the provider's headers are called, in lower case. */
export interface HeaderNames {
  readonly prefix: string;
  readonly event: string;
  readonly signature: string;
  readonly webhook: string;
}

export function toHeaderNames(headerPrefix: string): HeaderNames {
  const prefix = headerPrefix.toLowerCase();
  return {
    prefix,
    event: `${prefix}event`,
    signature: `${prefix}signature`,
    webhook: `${prefix}webhook`,
  };
}

/** How the headers of a request are read. */
export interface HeaderRules {
  readonly headerNames: HeaderNames;
  readonly limit: number;
  /** Whether only the header can name the event. */
  readonly needsEvent: boolean;
}

/** Step 1: what can be refused without reading a byte of the body. */
export function readHeaders(
  request: WebhookRequest,
  { headerNames, limit, needsEvent }: HeaderRules,
): WebhookHeaders | Rejection {
  const { method, headers } = request;
  if (!isPost(method)) return new Rejection('method_not_allowed');

  const header = toFinder(headers);
  const signature = header(headerNames.signature);
  if (!isSignature(signature)) {
    const detail = whyUnsigned(signature, headerNames, headers);
    return new Rejection('signature_invalid', { detail });
  }

  const event = toEventName(header(headerNames.event));
  if (!event && needsEvent) {
    const detail = `The header is \`${toTitle(headerNames.event)}\`.`;
    return new Rejection('event_header_invalid', { detail });
  }
  const refused = refuseBody(header, limit);
  return refused ?? { event, signature, id: header(headerNames.webhook) || undefined };
}

/** {@link readHeaders} where no signature is expected: the event, as far as a header names one. */
export function readUnsignedHeaders(
  { method, headers }: WebhookRequest,
  { headerNames, limit }: HeaderRules,
): { readonly event: string | undefined; readonly outcome?: undefined } | Rejection {
  if (!isPost(method)) return new Rejection('method_not_allowed');
  const header = toFinder(headers);
  return refuseBody(header, limit) ?? { event: toEventName(header(headerNames.event)) };
}

function isPost(method: unknown): boolean {
  if (typeof method !== 'string') throw invalid('method', method);
  return method.toUpperCase() === 'POST';
}

function invalid(name: keyof WebhookRequest, given: unknown): UsageError {
  return new UsageError(
    'request_invalid',
    `A request is { method, url, headers, body }, but its ${name} is ${nameType(given)}.`,
  );
}

/** Runtimes join a header that was given twice with a comma; no event name has one. */
function toEventName(named: string | undefined): string | undefined {
  return named?.includes(',') ? undefined : named || undefined;
}

function refuseBody(
  header: (name: string) => string | undefined,
  limit: number,
): Rejection | undefined {
  const encoding = header('content-encoding');
  if (encoding && encoding.toLowerCase() !== 'identity')
    return new Rejection('encoding_unsupported');
  const declaredLength = Number(header('content-length') ?? 0);
  return declaredLength > limit ? new Rejection('body_too_large') : undefined;
}

/** What there is in place of a signature: for who runs the receiver, and never for a sender. */
function whyUnsigned(
  signature: string | undefined,
  headerNames: HeaderNames,
  headers: RequestHeaders,
): string {
  const expected = `\`${toTitle(headerNames.signature)}\``;
  if (signature) {
    return explained(
      `${expected} is not 128 hexadecimal digits, so it is no HMAC-SHA512.`,
      'debug.md#not-hex',
    );
  }
  const prefix = headerEntries(headers)
    .map(([name]) => /^(x-[a-z0-9-]{1,40}-)signature$/.exec(name)?.[1])
    .find((found) => found !== undefined && found !== headerNames.prefix);
  if (prefix === undefined)
    return explained(`There was no ${expected}.`, 'debug.md#missing-header');
  const brand = toTitle(prefix);
  return explained(
    `There was no ${expected}, but \`${brand}Signature\`: set headerPrefix: '${brand}'.`,
    'debug.md#wrong-prefix',
  );
}

/** As headers are written: Node and Fetch give their names in lower case. */
export function toTitle(header: string): string {
  return header.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** The body, at most `limit` bytes of it, within `bodyTimeoutMs`. */
export function readBody(
  body: WebhookRequest['body'],
  { limit, bodyTimeoutMs }: { limit: number; bodyTimeoutMs: number },
): Promise<RawBody | Rejection> | RawBody | Rejection {
  if (typeof body !== 'function') return checkBody(body, limit);
  return readInTime(() => body(limit), bodyTimeoutMs).then((read) =>
    read.outcome === 'rejected' ? read : checkBody(read.body, limit),
  );
}

function checkBody(body: unknown, limit: number): RawBody | Rejection {
  if (isBytes(body)) {
    return body.length > limit ? new Rejection('body_too_large') : { bytes: body };
  }
  if (typeof body === 'object' && body !== null && 'consumed' in body) {
    throw new UsageError(
      'body_consumed',
      `The raw body is gone: something read and parsed it before the webhook receiver could. ${body.consumed}`,
    );
  }
  throw new UsageError(
    'body_not_bytes',
    `The body has to be the bytes as they came, before a parser: a Uint8Array or a function that reads one, but it is ${nameType(body)}.`,
  );
}

async function readInTime(
  read: () => Promise<unknown>,
  timeoutMs: number,
): Promise<{ readonly body: unknown; readonly outcome?: undefined } | Rejection> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Rejection>((resolve) => {
    timer = setTimeout(() => resolve(new Rejection('body_late')), timeoutMs);
  });
  try {
    return await Promise.race([read().then((body) => ({ body })), late]);
  } catch (error) {
    return new Rejection(UNREAD.get(statusOf(error)) ?? 'body_incomplete');
  } finally {
    clearTimeout(timer);
  }
}

/** Why a body was not read to its end, by the status of what was thrown. */
const UNREAD = new Map<unknown, RejectionCode>([
  [408, 'body_late'],
  [413, 'body_too_large'],
]);

function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : undefined;
}

/** Finds headers by their lower-case names; one that was given twice comes back joined with a comma. */
function toFinder(headers: RequestHeaders): (name: string) => string | undefined {
  if (typeof headers !== 'object') throw invalid('headers', headers);
  if (isFetchHeaders(headers)) return (name) => headers.get(name) ?? undefined;
  const keys = Object.keys(headers);
  return (name) => {
    let found: string | undefined;
    for (const key of keys) {
      if (key.length !== name.length || key.toLowerCase() !== name) continue;
      const value = headers[key];
      if (value === undefined || value === null) continue;
      const text = Array.isArray(value) ? value.join(', ') : String(value);
      found = found === undefined ? text : `${found}, ${text}`;
    }
    return found;
  };
}

/** All headers by their lower-case names, as far as they can be listed. */
export function headerEntries(headers: RequestHeaders): [name: string, value: string][] {
  const entries: [string, string][] = [];
  if (isFetchHeaders(headers)) {
    headers.forEach?.((value, name) => {
      entries.push([name.toLowerCase(), value]);
    });
    return entries;
  }
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue;
    entries.push([name.toLowerCase(), Array.isArray(value) ? value.join(', ') : String(value)]);
  }
  return entries;
}

/** What says who somebody is: it is neither kept nor handed on. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** All headers but those that say who somebody is. */
export function harmlessHeaders(headers: RequestHeaders): Record<string, string> {
  return Object.fromEntries(headerEntries(headers).filter(([name]) => !CREDENTIALS.has(name)));
}

/** Takes an address apart, however odd it is. */
export function toUnsigned(url: string, headers: RequestHeaders): UnsignedRequest {
  const [path = '', ...query] = url.split('?');
  return {
    path,
    query: new URLSearchParams(query.join('?')),
    headers: harmlessHeaders(headers),
  };
}

type FetchHeaders = Extract<RequestHeaders, { get(name: string): string | null }>;

function isFetchHeaders(headers: RequestHeaders): headers is FetchHeaders {
  return typeof headers.get === 'function';
}

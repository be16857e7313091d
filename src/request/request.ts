import { withDocsLink } from '../errors/docs-link.js';
import { UsageError } from '../errors/errors.js';
import { nameType } from '../runtime/bytes.js';
import { Rejection } from './outcome.js';
import { isSignature } from './signature.js';

/** A Fetch `Headers`, or a plain object such as Node's `req.headers`, with names in any case. */
export type RequestHeaders =
  | {
      get(name: string): string | null;
      forEach?(each: (value: string, name: string) => void): void;
    }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request, independent of any framework. */
export interface WebhookRequest {
  readonly method: string;
  /** Path and query, as sent, for a `secret` function and for handlers. */
  readonly url?: string | undefined;
  readonly headers: RequestHeaders;
  /**
   * The bytes as received, or a function that reads them. The receiver calls the function only if the headers
   * are valid.
   * `{ consumed }` means that the framework has already parsed the body, and says which line to change.
   */
  readonly body: Uint8Array | ReadBody | { readonly consumed: string };
  /** Settles when the response has left, or can no longer leave. `close()` waits for it. */
  readonly responseSent?: PromiseLike<unknown> | undefined;
  /**
   * Whether the sender has disconnected. If so, a delivery that has waited for its turn is not started. Default:
   * the sender is taken to be connected.
   */
  readonly isGone?: (() => boolean) | undefined;
}

/**
 * Reads a body.
 *
 * @param limit - The largest number of bytes that the receiver accepts.
 * @param onBytes - Call it with the size of each piece, before you keep the piece. It throws if the receiver wants no
 *   more of the body: let the error pass. The receiver reports any other error as one of the server or the connection.
 * @param whenOver - Pass it a function that releases the pieces. The receiver calls that function once it needs nothing
 *   more of the body, because the next piece may never arrive.
 */
export type ReadBody = (
  limit: number,
  onBytes: (bytes: number) => void,
  whenOver: (release: () => void) => void,
) => Promise<Uint8Array>;

/** The address and headers of a delivery. None of it is signed: anyone who has a delivery can send it anywhere. */
export interface UnsignedRequest {
  /** The path without the query, as sent, such as `/webhooks`; empty if it is not known. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The headers by lower-case name, without credentials such as `cookie`, and without the signature. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The three headers of a webhook (specification: Events). Only the signature proves anything. */
export interface WebhookHeaders {
  /** Absent if only the signed body names the event. */
  readonly event: string | undefined;
  readonly signature: string;
  /** The delivery id. `undefined` if the request has none. */
  readonly id: string | undefined;
  readonly outcome?: undefined;
}

/** The names of the provider's headers, in lower case. */
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

/** The settings for reading the headers of a request. */
export interface HeaderRules {
  readonly headerNames: HeaderNames;
  readonly limit: number;
  /** Whether only the header can name the event. */
  readonly needsEvent: boolean;
}

/** Step 1: checks everything that can be rejected without reading a byte of the body. */
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

/** {@link readHeaders} for a request that needs no signature. Returns the event, if a header names one. */
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

/** Returns no name if the header was sent twice: runtimes join the values with a comma, and no event has one. */
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
  return toLength(header) > limit ? new Rejection('body_too_large') : undefined;
}

/** Returns the number of bytes that the headers announce; 0 if they announce none. */
export function declaredLength({ headers }: Pick<WebhookRequest, 'headers'>): number {
  return toLength(toFinder(headers));
}

function toLength(header: (name: string) => string | undefined): number {
  return Number(header('content-length') ?? 0);
}

/** Says what the request has instead of a signature. For the operator. Never sent to the sender. */
function whyUnsigned(
  signature: string | undefined,
  headerNames: HeaderNames,
  headers: RequestHeaders,
): string {
  const expected = `\`${toTitle(headerNames.signature)}\``;
  if (signature) {
    return withDocsLink(
      `${expected} is not 128 hexadecimal digits, so it is not an HMAC-SHA512.`,
      'debug.md#not-hex',
    );
  }
  const prefix = headerEntries(headers)
    .map(([name]) => /^(x-[a-z0-9-]{1,40}-)signature$/.exec(name)?.[1])
    .find((found) => found !== undefined && found !== headerNames.prefix);
  if (prefix === undefined)
    return withDocsLink(`There was no ${expected}.`, 'debug.md#missing-header');
  const brand = toTitle(prefix);
  return withDocsLink(
    `There was no ${expected}, but \`${brand}Signature\`: set headerPrefix: '${brand}'.`,
    'debug.md#wrong-prefix',
  );
}

/** Capitalizes a header name as it is usually written: Node and Fetch give names in lower case. */
export function toTitle(header: string): string {
  return header.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Finds headers by their lower-case names. The values of a header that was sent twice are joined with a comma. */
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

/** Returns all headers by lower-case name. Empty for headers that have `get` but no `forEach`. */
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

/** Headers that identify a client. They are neither kept nor passed on. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** Returns all headers except {@link CREDENTIALS}. */
export function harmlessHeaders(headers: RequestHeaders): Record<string, string> {
  return Object.fromEntries(headerEntries(headers).filter(([name]) => !CREDENTIALS.has(name)));
}

/** Splits an address into its parts. Accepts any text. */
export function toUnsigned(url: string, headers: RequestHeaders): UnsignedRequest {
  const [path = '', ...query] = url.split('?');
  return {
    path,
    query: new URLSearchParams(query.join('?')),
    headers: Object.fromEntries(
      Object.entries(harmlessHeaders(headers)).filter(([name]) => !name.endsWith('signature')),
    ),
  };
}

type FetchHeaders = Extract<RequestHeaders, { get(name: string): string | null }>;

function isFetchHeaders(headers: RequestHeaders): headers is FetchHeaders {
  return typeof headers.get === 'function';
}

import { loadFixture, sign } from 'storefront-webhooks/testing';
import { chunk, type Headers, head, LAST_CHUNK, type RawAnswer } from '../support/raw-http.js';
import { LIMIT, SECRET } from './apps/inside/contract.js';

/** A request, as it is sent. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The size of its chunks; without it, the length is declared. */
  readonly chunkBytes?: number;
}

export function write({ method, path, headers, body, chunkBytes }: Sent): (string | Uint8Array)[] {
  const to = { ...(method && { method }), ...(path && { path }) };
  if (!chunkBytes) return [head([...headers, ['Content-Length', body.length]], to), body];
  const pieces = [];
  for (let start = 0; start < body.length; start += chunkBytes) {
    pieces.push(chunk(body.subarray(start, start + chunkBytes)));
  }
  return [head([...headers, ['Transfer-Encoding', 'chunked']], to), ...pieces, LAST_CHUNK];
}

/** The headers of a signed delivery. */
export function webhook(body: Uint8Array, id: string, event = 'order:paid'): Headers {
  return [
    ['Content-Type', 'application/json'],
    ['X-Service-Event', event],
    ['X-Service-Webhook', id],
    ['X-Service-Signature', sign(body, SECRET)],
  ];
}

/** The part of an answer that is the same in every framework. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of the server and the framework, and the length headers, which another test checks. */
const THEIRS = new Set([
  ...['connection', 'content-length', 'date', 'keep-alive', 'server', 'transfer-encoding'],
  // Express, Next.js and Deno add these.
  ...['x-powered-by', 'vary'],
]);

export function seen({ status, headers, body }: RawAnswer): Seen {
  const ours = Object.entries(headers).filter(([name]) => !THEIRS.has(name));
  const receipt = headers['webhook-receipt'] ?? '';
  // Replace the receipt only if the header and the body have the same one.
  if (!RECEIPT.test(receipt) || !body.includes(`"${receipt}"`)) {
    return { status, headers: Object.fromEntries(ours), body };
  }
  const shown = ours.map(([name, value]) => [name, withoutCode(value)]);
  return { status, headers: Object.fromEntries(shown), body: withoutCode(body) };
}

const RECEIPT = /v1\.[a-z]+\.\d{10}\.[\da-f]{64}\.[\da-f]{64}/;

/** Returns a text with its receipt replaced, so that texts can be compared. */
export function withoutCode(text: string): string {
  return text.replace(RECEIPT, 'v1');
}

export function answered(
  status: number,
  outcome: string,
  message: string,
  errors?: string[],
): Seen {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ message, outcome, errors }),
  };
}

/** The answer to a delivery. */
export function receipted(...about: Parameters<typeof answered>): Seen {
  const { status, headers, body } = answered(...about);
  return {
    status,
    headers: { ...headers, 'webhook-receipt': 'v1' },
    body: JSON.stringify({ ...JSON.parse(body), receipt: 'v1' }),
  };
}

const notPost = answered(405, 'rejected', 'Send webhooks with POST.');
const down = receipted(503, 'unavailable', 'Temporarily unavailable. Retry it later.');

export const NOT_POST = { ...notPost, headers: { ...notPost.headers, allow: 'POST' } };
export const DOWN = { ...down, headers: { ...down.headers, 'retry-after': '1' } };
export const HANDLED = receipted(200, 'handled', 'Handled.');
export const DUPLICATE = receipted(200, 'duplicate', 'Already handled.');
const failed = [500, 'failed', 'The webhook could not be handled. Retry it.'] as const;
export const FAILED = receipted(...failed);
/** The answer to a request that never became a delivery. */
export const FAILED_EARLY = answered(...failed);

const paid = Buffer.from(loadFixture('order:paid').body).toString();

/** A paid order of the given size. */
export function orderOf(bytes: number): Buffer {
  const padded = (padding: string) => Buffer.from(JSON.stringify({ ...JSON.parse(paid), padding }));
  return padded('x'.repeat(bytes - padded('').length));
}

/** Valid bodies that change if they are parsed and serialised again. */
export const GENUINE: readonly (readonly [name: string, body: string])[] = [
  ['slashes that are escaped', `{"url":"https:\\/\\/example.com\\/",${paid.slice(1)}`],
  ['numbers with a zero at the end', `{"exact":10.0,"small":1e-7,${paid.slice(1)}`],
  ['line ends of Windows', JSON.stringify(JSON.parse(paid), null, 2).replaceAll('\n', '\r\n')],
  ['white space around it', ` \t\r\n${paid}\n\n`],
  ['characters that are escaped', `{"name":"\\u00e9\\ud83d\\ude00\\u0000",${paid.slice(1)}`],
  ['characters of two to four bytes', `{"name":"é€😀\u2028",${paid.slice(1)}`],
  ['a key that stands there twice', `{"id":"ord_other",${paid.slice(1)}`],
];

type Refused = (id: string) => Sent;

const NOT_JSON = answered(400, 'rejected', 'The body is not JSON in UTF-8.');
const UNSIGNED = answered(401, 'rejected', 'The signature is missing or wrong.');
const NO_EVENT = answered(
  400,
  'rejected',
  'The event header is missing, or was given more than once.',
);
const TOO_LARGE = answered(413, 'rejected', 'The body is larger than this receiver accepts.');
const ENCODED = answered(415, 'rejected', 'Send the body without a content encoding.');

const order = Buffer.from(paid);

function without(name: string, headers: Headers): Headers {
  return headers.filter(([each]) => each !== name);
}

function signed(body: Uint8Array, event?: string): Refused {
  return (id) => ({ body, headers: webhook(body, id, event) });
}

/** A paid order with other headers. */
function changed(change: (headers: Headers) => Headers): Refused {
  return (id) => ({ body: order, headers: change(webhook(order, id)) });
}

/** Every row of the table of answers about invalid requests, with its answer. */
export const REFUSED: readonly (readonly [name: string, request: Refused, expected: Seen])[] = [
  ['bytes that are not UTF-8', signed(Buffer.from('7b2261223a22ff227d', 'hex')), NOT_JSON],
  ['a byte order mark', signed(Buffer.from(`\ufeff${paid}`)), NOT_JSON],
  ['an empty body', signed(Buffer.from('')), NOT_JSON],
  ['half of a body', signed(order.subarray(0, 100)), NOT_JSON],
  ['a body that is no JSON', signed(Buffer.from('event=order:paid')), NOT_JSON],
  ['no signature', changed((all) => without('X-Service-Signature', all)), UNSIGNED],
  [
    'the signature of another body',
    (id) => ({ body: order, headers: webhook(Buffer.from('{}'), id) }),
    UNSIGNED,
  ],
  [
    'half of a signature',
    changed((all) => [
      ...without('X-Service-Signature', all),
      ['X-Service-Signature', sign(order, SECRET).slice(0, 64)],
    ]),
    UNSIGNED,
  ],
  [
    'two signatures',
    changed((all) => [...all, ['X-Service-Signature', sign(order, SECRET)]]),
    UNSIGNED,
  ],
  ['no event', changed((all) => without('X-Service-Event', all)), NO_EVENT],
  ['two events', changed((all) => [...all, ['X-Service-Event', 'order:created']]), NO_EVENT],
  ['a content encoding', changed((all) => [...all, ['Content-Encoding', 'gzip']]), ENCODED],
  ['a declared length over the limit', signed(orderOf(LIMIT + 1)), TOO_LARGE],
  [
    'chunks over the limit',
    (id) => ({ ...signed(orderOf(LIMIT + 1))(id), chunkBytes: 10_000 }),
    TOO_LARGE,
  ],
  [
    'an order without an id',
    signed(Buffer.from('{"status":100,"email":"buyer@example.com"}')),
    receipted(422, 'rejected', 'The payload does not fit its event.', ['id is not as expected']),
  ],
  [
    'an order that is not paid, as paid',
    signed(Buffer.from('{"id":"ord_1","status":0,"email":"buyer@example.com"}')),
    receipted(422, 'rejected', 'The payload does not fit its event.', [
      'status is not as expected',
    ]),
  ],
];

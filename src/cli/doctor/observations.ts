import { isSignature } from '../../request/signature.js';
import { readUtf8 } from './charsets.js';
import type { Received } from './messages.js';
import { parseJson } from './undone.js';

/** Returns remarks that need no signature, to be reported beside a cause. */
export function observe({ body, signature, headers = [] }: Received): readonly string[] {
  return [...ofBody(body), ...ofHeaders(body, headers), ...ofSignature(signature)];
}

function* ofBody(body: Uint8Array): Generator<string> {
  const text = readUtf8(body);
  if (body.length === 0) yield 'The body is empty: other code has already read it.';
  if (text === undefined) yield 'The body is not UTF-8.';
  else if (text === '[object Object]')
    yield 'The body is the text of an object: a parser has parsed it, and its bytes are lost.';
  else if (text === '{}')
    yield 'The body is an empty object: Express 4 has one if no parser fits the Content-Type, and then the bytes are lost.';
  else {
    if (text.includes('\ufffd'))
      yield 'The body contains U+FFFD: bytes that were not UTF-8 were decoded as text, and are lost.';
    if (parseJson(text.replace(/^\ufeff/, '')) === undefined)
      yield 'The body is not JSON: it may be cut short.';
  }
}

function* ofHeaders(
  body: Uint8Array,
  headers: NonNullable<Received['headers']>,
): Generator<string> {
  const find = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const declared = find('content-length');
  if (declared !== undefined && Number(declared) !== body.length)
    yield Number(declared) > body.length
      ? `The body was cut short: Content-Length says ${Number(declared)} bytes, but there are ${body.length}.`
      : `The body was changed: Content-Length says ${Number(declared)} bytes, but there are ${body.length}.`;
  const encoding = find('content-encoding')?.toLowerCase();
  if (encoding !== undefined && /^(?:gzip|br|deflate|zstd)$/.test(encoding))
    yield `Content-Encoding says ${encoding}: the body is or was compressed.`;
}

function* ofSignature(signature: string): Generator<string> {
  const { length } = signature;
  if (isSignature(signature)) return;
  yield length === 0
    ? 'The signature is missing.'
    : `The signature is not 128 hexadecimal digits: it has ${length} characters.`;
}

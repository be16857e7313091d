import { brotliDecompressSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Candidate } from './cause.js';
import { LATIN_1, readUtf8 } from './charsets.js';
import { attempt, one } from './undone.js';

type Bytes = Uint8Array;

/** The most that a compressed body may become. */
const MAX_INFLATED = 10 * 1024 * 1024;

/** The body before it was compressed, or as it was sent compressed. */
export function* compression(body: Bytes): Generator<Candidate<Bytes>> {
  const inflated = (name: string, inflate: () => Bytes) =>
    one(
      attempt(inflate),
      'compressed',
      `The body is compressed with ${name}: it was signed as it was before.`,
    );
  const options = { maxOutputLength: MAX_INFLATED };
  if (body[0] === 0x1f && body[1] === 0x8b)
    yield* inflated('gzip', () => gunzipSync(body, options));
  else if (((body[0] ?? 0) & 0x0f) === 8 && (((body[0] ?? 0) << 8) + (body[1] ?? 0)) % 31 === 0)
    yield* inflated('deflate', () => inflateSync(body, options));
  else if (readUtf8(body) === undefined) {
    yield* inflated('deflate', () => inflateRawSync(body, options));
    yield* inflated('Brotli', () => brotliDecompressSync(body, options));
  } else if (body.length <= 1024 * 1024) {
    // What a compressor writes is not the same everywhere: these are zlib's, by level and system.
    for (const level of [6, 9, 1]) {
      const packed = gzipSync(body, { level });
      for (const [flag, system] of GZIP_HEADS) {
        const message = 'The body was signed as it was sent, compressed, and is unpacked now.';
        const value = Uint8Array.from(packed);
        value[8] = level === 9 ? 2 : level === 1 ? 4 : flag;
        value[9] = system;
        yield* one(value, 'decompressed', message);
      }
    }
  }
}

const GZIP_HEADS = [
  [0, 3],
  [0, 255],
  [0, 0],
  [0, 19],
] as const;

/** What belongs to HTTP and has come to stand in the body. */
export function* framing(body: Bytes): Generator<Candidate<Bytes>> {
  const text = LATIN_1.decode(body);
  if (/^[0-9a-f]{1,8}(?:;[^\r\n]*)?\r\n/i.test(text))
    yield* one(
      unchunk(text),
      'framed',
      'The chunks of the transfer coding stand in the body: something has not decoded them.',
    );
  if (/^[A-Z]{3,7} \S+ HTTP\/|^HTTP\//.test(text)) {
    const end = text.indexOf('\r\n\r\n');
    if (end > 0)
      yield* one(
        body.subarray(end + 4),
        'framed',
        'The head of the request stands before the body.',
      );
  }
  const [all, , part] = /^--([^\r\n]+)\r\n[\s\S]*?\r\n\r\n([\s\S]*)\r\n--\1/.exec(text) ?? [];
  if (all !== undefined && part !== undefined)
    yield* one(LATIN_1.encode(part), 'framed', 'The body stands in a part of a multipart body.');
}

function unchunk(text: string): Bytes | undefined {
  let rest = text;
  let joined = '';
  for (;;) {
    const [head, digits] = /^([0-9a-f]{1,8})(?:;[^\r\n]*)?\r\n/i.exec(rest) ?? [];
    // The last chunk of no bytes may be missing.
    if (head === undefined) return rest === '' ? LATIN_1.encode(joined) : undefined;
    const size = Number.parseInt(digits ?? '', 16);
    if (size === 0) return LATIN_1.encode(joined);
    joined += rest.slice(head.length, head.length + size);
    rest = rest.slice(head.length + size).replace(/^\r\n/, '');
  }
}

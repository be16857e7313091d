import { brotliDecompressSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Candidate } from './cause.js';
import { LATIN_1, readUtf8 } from './charsets.js';
import { attempt, one } from './undone.js';

type Bytes = Uint8Array;

/** How large a body may be after decompression. */
const MAX_INFLATED = 10 * 1024 * 1024;

/** Yields the body before it was compressed. */
export function* decompressed(body: Bytes): Generator<Candidate<Bytes>> {
  const [first = 0, second = 0] = body;
  const options = { maxOutputLength: MAX_INFLATED };
  const inflated = (name: string, inflate: (body: Bytes, options: object) => Bytes) =>
    one(
      attempt(() => inflate(body, options)),
      'compressed',
      name,
    );
  if (first === 0x1f && second === 0x8b) yield* inflated('gzip', gunzipSync);
  else if ((first & 0x0f) === 8 && ((first << 8) + second) % 31 === 0)
    yield* inflated('deflate', inflateSync);
  else if (readUtf8(body) === undefined) {
    yield* inflated('deflate', inflateRawSync);
    yield* inflated('Brotli', brotliDecompressSync);
  }
}

/** Yields the body as zlib compresses it, by level and system. Other compressors write other bytes. */
export function* compressed(body: Bytes): Generator<Candidate<Bytes>> {
  if (body.length > 1024 * 1024) return;
  for (const [level, flag] of LEVELS) {
    const packed = gzipSync(body, { level });
    for (const system of SYSTEMS) {
      const value = Uint8Array.from(packed);
      value[8] = flag;
      value[9] = system;
      yield* one(value, 'decompressed');
    }
  }
}

const LEVELS = [
  [6, 0],
  [9, 2],
  [1, 4],
] as const;
const SYSTEMS = [3, 255, 0, 19];

/** Yields the body without parts of the HTTP message in it. */
export function* framing(body: Bytes): Generator<Candidate<Bytes>> {
  const text = LATIN_1.decode(body);
  if (CHUNK.test(text)) yield* one(unchunk(text), 'framed', 'the chunks of the transfer coding');
  const head = /^[A-Z]{3,7} \S+ HTTP\/|^HTTP\//.test(text) ? text.indexOf('\r\n\r\n') : -1;
  if (head > 0) yield* one(body.subarray(head + 4), 'framed', 'the head of the request');
  const part = partOf(text);
  if (part !== undefined) yield* one(LATIN_1.encode(part), 'framed', 'the parts of multipart');
}

/** Returns the content of the first part of a multipart body, up to the last boundary. */
function partOf(text: string): string | undefined {
  const [line, boundary] = /^--([^\r\n]+)\r\n/.exec(text) ?? [];
  if (line === undefined) return undefined;
  const headEnd = text.indexOf('\r\n\r\n', line.length);
  const end = text.lastIndexOf(`\r\n--${boundary}`);
  const start = headEnd + 4;
  return headEnd < 0 || end < start ? undefined : text.slice(start, end);
}

const CHUNK = /^([0-9a-f]{1,8})(?:;[^\r\n]*)?\r\n/i;

function unchunk(text: string): Bytes | undefined {
  let rest = text;
  let joined = '';
  for (;;) {
    const [head, digits] = CHUNK.exec(rest) ?? [];
    // The last, empty chunk may be missing.
    if (head === undefined) return rest === '' ? LATIN_1.encode(joined) : undefined;
    const size = Number.parseInt(digits ?? '', 16);
    if (size === 0) return LATIN_1.encode(joined);
    joined += rest.slice(head.length, head.length + size);
    rest = rest.slice(head.length + size).replace(/^\r\n/, '');
  }
}

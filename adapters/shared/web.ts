import type { Reply, WebhookRequest } from '../../src/index.js';
import { maxPieces } from './max-pieces.js';
import { toPath } from './path.js';
import type { Mount } from './receiver.js';

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Answers one Fetch request. */
export async function respond(
  receive: (request: WebhookRequest) => Promise<Reply>,
  request: Request,
  { parsedBodyHint, durableStores }: Mount,
): Promise<Response> {
  const { body: stream, bodyUsed } = request;
  let reader: Reader | undefined;
  const toRead = (limit: number) => {
    reader = stream?.getReader();
    return reader ? read(reader, limit) : Promise.resolve(new Uint8Array());
  };
  const { status, headers, body } = await receive({
    method: request.method,
    url: toPath(request.url),
    headers: request.headers,
    body: bodyUsed || stream?.locked ? { consumed: parsedBodyHint } : toRead,
    durableStores,
  });
  // What is too long or too late is not waited for.
  reader?.cancel().catch(() => {});
  const bytes = new TextEncoder().encode(body);
  return new Response(bytes, {
    status,
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
}

/** Reads at most `limit` bytes. Pieces are copied into one block, so that small ones do not add up. */
async function read(reader: Reader, limit: number): Promise<Uint8Array> {
  let block = new Uint8Array();
  let length = 0;
  for (let left = maxPieces(limit); left >= 0; left--) {
    const { done, value } = await reader.read();
    if (done) return block.subarray(0, length);
    // Of another realm, as in Next's edge runtime, it is no instance of this one's Uint8Array.
    if (!ArrayBuffer.isView(value)) throw new TypeError('The body does not consist of bytes.');
    const end = length + value.byteLength;
    if (end > limit) throw Object.assign(new Error('The body is too large.'), { status: 413 });
    if (end > block.length) block = grow(block, Math.min(limit, 2 * end));
    block.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), length);
    length = end;
  }
  throw new Error('The body comes in too many pieces.');
}

function grow(block: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(block);
  return larger;
}

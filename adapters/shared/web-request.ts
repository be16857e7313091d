import type { WebhookRequest } from '../../src/request/request.js';
import { maxPieces, tooManyPieces, toPath } from './request.js';

/** @param isOver - Whether the receiver has responded, and nobody waits for the body any more. */
export function readRequest(
  request: Request,
  parsedBodyHint: string,
  isOver: () => boolean,
): WebhookRequest {
  const { body: stream } = request;
  const toRead = async (limit: number) => (stream ? read(stream, limit, isOver) : new Uint8Array());
  return {
    method: request.method,
    url: toPath(request.url),
    headers: request.headers,
    body: isRead(request) ? { consumed: parsedBodyHint } : toRead,
  };
}

/** A request of srvx, which serves Elysia and Nitro 3 on Node: it knows only by Node's request that it was read. */
interface SrvxRequest extends Request {
  readonly runtime?: { readonly node?: { readonly req?: { readonly readableDidRead?: boolean } } };
}

/** Whether somebody else has read the body. */
function isRead(request: SrvxRequest): boolean {
  if (request.runtime?.node?.req?.readableDidRead) return true;
  return request.bodyUsed || request.body?.locked === true;
}

/**
 * Reads at most `limit` bytes. Pieces are copied into one block, so that small ones do not add up. What
 * is too long or too late is left unread, and not cancelled: h3 1 would end the process over it.
 */
async function read(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  isOver: () => boolean,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  let block = new Uint8Array();
  let length = 0;
  for (let left = maxPieces(limit); left >= 0 && !isOver(); left--) {
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
  throw tooManyPieces();
}

function grow(block: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(block);
  return larger;
}

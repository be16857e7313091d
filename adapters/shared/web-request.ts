import type { ReadBody, WebhookRequest } from '../../src/request/request.js';
import { toPath } from './request.js';

/** @param isOver - Whether the receiver has responded, so that the body is not needed any more. */
export function readRequest(
  request: Request,
  parsedBodyHint: string,
  isOver: () => boolean,
): WebhookRequest {
  const { body: stream } = request;
  const toRead: ReadBody = async (limit, onBytes) =>
    stream ? read(stream, limit, onBytes, isOver) : new Uint8Array();
  return {
    method: request.method,
    url: toPath(request.url),
    headers: request.headers,
    body: isRead(request) ? { consumed: parsedBodyHint } : toRead,
    isGone: () => request.signal?.aborted,
  };
}

/**
 * A request of srvx, which serves Elysia and Nitro 3 on Node. If its body was read through Node's request, only
 * that request shows it.
 */
interface SrvxRequest extends Request {
  readonly runtime?: { readonly node?: { readonly req?: { readonly readableDidRead?: boolean } } };
}

/** Whether other code has already read the body. */
function isRead(request: SrvxRequest): boolean {
  if (request.runtime?.node?.req?.readableDidRead) return true;
  return request.bodyUsed || request.body?.locked === true;
}

/**
 * Reads at most `limit` bytes, after which `onBytes` throws. Pieces are copied into one block, so that many small
 * ones do not add up. If the body is too long or too late, the rest stays unread and is not cancelled: cancelling
 * would end the process with h3 1.
 */
async function read(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  onBytes: (bytes: number) => void,
  isOver: () => boolean,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  let block = new Uint8Array();
  let length = 0;
  while (!isOver()) {
    const { done, value } = await reader.read();
    if (done) break;
    // In Next's edge runtime the value comes from another realm, so `instanceof Uint8Array` would fail.
    if (!ArrayBuffer.isView(value)) throw new TypeError('The body does not consist of bytes.');
    onBytes(value.byteLength);
    const end = length + value.byteLength;
    if (end > block.length) block = grow(block, Math.min(limit, 2 * end));
    block.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), length);
    length = end;
  }
  return block.subarray(0, length);
}

function grow(block: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(block);
  return larger;
}

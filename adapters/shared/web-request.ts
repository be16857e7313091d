import type { ReadBody, WebhookRequest } from '../../src/request/request.js';
import { toPath } from './request.js';

export function readRequest(request: Request, parsedBodyHint: string): WebhookRequest {
  return {
    method: request.method,
    url: toPath(request.url),
    headers: request.headers,
    body: bodyOf(request, parsedBodyHint),
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

function bodyOf(request: SrvxRequest, hint: string): WebhookRequest['body'] {
  const { body } = request;
  // Other code may have read it already.
  if (request.runtime?.node?.req?.readableDidRead || request.bodyUsed || body?.locked)
    return { consumed: hint };
  return body ? toRead(body) : new Uint8Array();
}

/**
 * Returns a function that reads at most `limit` bytes, after which `onBytes` throws. Pieces are copied into one block,
 * so that many small ones do not add up. If the body is too long or too late, the rest stays unread and is not
 * cancelled: cancelling would end the process with h3 1.
 */
function toRead(stream: ReadableStream<Uint8Array>): ReadBody {
  return (limit, onBytes, whenOver) => {
    const reader = stream.getReader();
    let block = new Uint8Array();
    let length = 0;
    whenOver(() => {
      block = new Uint8Array();
    });
    // An async function would keep the last piece in memory while it waits for the next one.
    return new Promise((resolve, reject) => {
      const readOn = (): unknown =>
        reader
          .read()
          .then(({ done, value }) => {
            if (done) return resolve(block.subarray(0, length));
            // In Next's edge runtime the value comes from another realm, so `instanceof Uint8Array` would fail.
            if (!ArrayBuffer.isView(value)) {
              throw new TypeError('The body does not consist of bytes.');
            }
            onBytes(value.byteLength);
            const end = length + value.byteLength;
            if (end > block.length) {
              const smaller = block;
              block = new Uint8Array(Math.min(limit, 2 * end));
              block.set(smaller);
            }
            block.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), length);
            length = end;
            readOn();
          })
          .catch(reject);
      readOn();
    });
  };
}

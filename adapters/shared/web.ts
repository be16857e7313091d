import type { Reply, WebhookRequest } from '../../src/index.js';
import type { Mount } from './receiver.js';

/** Answers one Fetch request. */
export async function respond(
  receive: (request: WebhookRequest) => Promise<Reply>,
  request: Request,
  { parsedBodyHint, durableStores }: Mount,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { status, headers, body } = await receive({
    method: request.method,
    url: pathname + search,
    headers: request.headers,
    body: bodyOf(request, parsedBodyHint),
    durableStores,
  });
  const bytes = new TextEncoder().encode(body);
  return new Response(bytes, {
    status,
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
}

function bodyOf({ body, bodyUsed }: Request, parsedBodyHint: string): WebhookRequest['body'] {
  if (bodyUsed || body?.locked) return { consumed: parsedBodyHint };
  return body ? (limit) => read(body, limit) : new Uint8Array();
}

/** Reads at most `limit` bytes. Pieces are copied into one block, so that small ones do not add up. */
async function read(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  let block: Uint8Array = new Uint8Array();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return block.subarray(0, length);
    const needed = length + value.length;
    if (needed > limit) {
      reader.cancel().catch(() => {});
      throw Object.assign(new Error('The body is too large.'), { status: 413 });
    }
    if (length === 0) block = value;
    else {
      if (needed > block.length) block = grow(block, Math.min(limit, 2 * needed));
      block.set(value, length);
    }
    length = needed;
  }
}

function grow(block: Uint8Array, size: number): Uint8Array {
  const larger = new Uint8Array(size);
  larger.set(block);
  return larger;
}

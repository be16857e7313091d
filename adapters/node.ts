import type { IncomingMessage, ServerResponse } from 'node:http';
import getRawBody from 'raw-body';
import type { Reply, WebhookRequest } from '../src/index.js';
import type { Receiving } from './receiver.js';

/** Node's request, with what frameworks may have put on it. */
export type NodeRequest = IncomingMessage & { body?: unknown; rawBody?: unknown };

/**
 * Answers one Node request.
 *
 * @param parsedBodyHint - Which line to change where the framework has parsed the body.
 */
export async function answer(
  receive: Receiving['receive'],
  request: NodeRequest,
  response: ServerResponse,
  parsedBodyHint: string,
): Promise<void> {
  const reply = await receive({
    method: request.method ?? '',
    url: request.url,
    headers: request.headers,
    body: bodyOf(request, parsedBodyHint),
  });
  await send(reply, request, response);
}

function bodyOf(request: NodeRequest, parsedBodyHint: string): WebhookRequest['body'] {
  // Some platforms and parsers leave the bytes here.
  if (Buffer.isBuffer(request.rawBody)) return request.rawBody;
  if (Buffer.isBuffer(request.body)) return request.body;
  // Whether the stream was read tells; `request.body` does not: Express 4 sets it to {} without reading.
  if (request.readableDidRead || request.readableEncoding !== null) {
    return { consumed: parsedBodyHint };
  }
  return (limit) => {
    limitPieces(request, limit);
    return getRawBody(request, { limit, length: request.headers['content-length'] ?? null });
  };
}

/** Pieces are kept until the body is whole, and each costs two hundred bytes beside its own. */
function limitPieces(request: IncomingMessage, limit: number): void {
  let left = Math.max(10_000, limit / 100);
  request.on('data', () => {
    left -= 1;
    if (left < 0) request.destroy();
  });
}

/** How much of a refused body is read and thrown away, and for how long, so that its sender sees the answer. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

async function send(reply: Reply, request: NodeRequest, response: ServerResponse): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const refusedUnread = !request.complete;
  response.writeHead(reply.status, {
    ...reply.headers,
    'content-length': Buffer.byteLength(reply.body),
    ...(refusedUnread && request.httpVersionMajor === 1 && { connection: 'close' }),
  });
  // Closing a connection while its sender is still sending would reset it, and the answer with it.
  if (refusedUnread) {
    response.write(reply.body);
    await discard(request);
    response.end();
  } else {
    response.end(reply.body);
  }
}

function discard(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = LINGER_BYTES;
    const timer = setTimeout(done, LINGER_MS);
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    request.on('end', done).on('close', done).on('error', done);
    request.resume();

    function done() {
      clearTimeout(timer);
      request.pause();
      resolve();
    }
  });
}

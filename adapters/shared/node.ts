import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers';
import getRawBody from 'raw-body';
import type { Reply, WebhookRequest } from '../../src/index.js';
import { toPath } from './path.js';
import type { Mount, Receive } from './receiver.js';

/** What frameworks and parsers put on a request. */
interface Extras {
  body?: unknown;
  rawBody?: unknown;
  originalUrl?: string;
}

/** Node's request, with what may have been put on it. */
export type NodeRequest = (IncomingMessage | Http2ServerRequest) & Extras;

/** Node's response. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** Answers one request of Node's, and resolves when the answer has left. */
export async function answer(
  receive: Receive,
  request: NodeRequest,
  response: NodeResponse,
  mount: Mount,
): Promise<void> {
  const reply = await receive(readRequest(request, response, mount));
  const { status, headers, body } = await toAnswer(reply, request);
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, headers);
  if (typeof body === 'string') response.end(body);
  // A sender that leaves before the end has no answer coming.
  else await pipeline(body, response).catch(() => {});
}

/** @param extras - Where the framework keeps what it has read, if not on Node's request. */
export function readRequest(
  request: NodeRequest,
  response: NodeResponse,
  { parsedBodyHint, durableStores }: Mount,
  extras: Extras = request,
): WebhookRequest {
  return {
    method: request.method ?? '',
    url: toPath(extras.originalUrl ?? request.url ?? ''),
    headers: request.headers,
    body: bodyOf(request, extras, parsedBodyHint),
    durableStores,
    answered: new Promise((resolve) => response.once('close', resolve)),
  };
}

function bodyOf(request: NodeRequest, extras: Extras, hint: string): WebhookRequest['body'] {
  // Some platforms and parsers leave the bytes here.
  if (Buffer.isBuffer(extras.rawBody)) return extras.rawBody;
  if (Buffer.isBuffer(extras.body)) return extras.body;
  // Whether the stream was read tells; `body` does not: Express 4 sets it to {} without reading.
  if (request.readableDidRead || request.readableEncoding !== null) return { consumed: hint };
  const stream: Readable = request;
  const length = request.headers['content-length'] ?? null;
  return (limit) => {
    limitPieces(stream, limit);
    return getRawBody(stream, { limit, length });
  };
}

/** Pieces are kept until the body is whole, and each costs two hundred bytes beside its own. */
function limitPieces(body: Readable, limit: number): void {
  let left = Math.max(10_000, limit / 100);
  body.on('data', () => {
    left -= 1;
    if (left < 0) body.destroy();
  });
}

/** An answer for Node to send. */
export interface NodeAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Readable;
}

export async function toAnswer(reply: Reply, request: NodeRequest): Promise<NodeAnswer> {
  await endOfTurn();
  const headers = { ...reply.headers, 'content-length': String(Buffer.byteLength(reply.body)) };
  const answer = { status: reply.status, headers, body: reply.body };
  if (request.complete || request.readableEnded) return answer;
  if ('stream' in request) {
    const { stream } = request;
    stream.once('finish', () => stream.close()).resume();
    return answer;
  }
  return {
    ...answer,
    headers: { ...headers, connection: 'close' },
    body: Readable.from(thenLinger(reply.body, request)),
  };
}

// Kept from before anybody's fake timers.
const afterThisTurn = setImmediate;
let turn: Promise<void> | undefined;

/**
 * Waits for the end of this turn of the event loop, so that the answers of one turn leave together: to
 * wake a proxy on the same machine for each of them takes longer than to handle the delivery.
 */
function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    afterThisTurn(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

/** Closing a connection while its sender is still sending would reset it, and the answer with it. */
async function* thenLinger(text: string, request: NodeRequest) {
  yield text;
  await discard(request);
}

/** How much of a refused body is read and thrown away, and for how long, so that its sender sees the answer. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 1000;

function discard(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let left = LINGER_BYTES;
    const timer = setTimeout(done, LINGER_MS);
    body.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    body.on('end', done).on('close', done).on('error', done);
    body.resume();

    function done() {
      clearTimeout(timer);
      body.pause();
      resolve();
    }
  });
}

import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import type { Receive } from '../../src/process/receiver-source.js';
import type { WebhookResponse } from '../../src/request/outcome.js';
import { type NodeRequest, type NodeResponse, readRequest, release } from './node-request.js';

/** Responds to one Node request, and resolves when the response has been handed to Node. */
export async function respond(
  receive: Receive,
  request: NodeRequest,
  response: NodeResponse,
  parsedBodyHint: string,
): Promise<void> {
  const received = await receive(readRequest(request, response, parsedBodyHint));
  const { status, headers, body } = await toNodeResponse(received, request);
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, headers);
  response.end(body);
}

/** A response for Node to send. */
export interface PreparedResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Bytes are a Buffer: Koa would send any other view as JSON. */
  readonly body: string | Buffer;
}

export async function toNodeResponse(
  { status, headers: given, body: content }: WebhookResponse<string | Uint8Array>,
  request: NodeRequest,
): Promise<PreparedResponse> {
  // The receiver may have responded without reading the body.
  release(request);
  // Under overload (503), respond at once: a turn of the event loop may take long then.
  if (status !== 503) await endOfTurn();
  const body = typeof content === 'string' ? content : toBuffer(content);
  const headers: Record<string, string> = {
    ...given,
    'content-length': String(Buffer.byteLength(body)),
  };
  // HTTP/2 has no such header. Node 20 and 22 leave a session open when its server closes.
  if ('stream' in request && headers.connection) {
    request.stream.session?.close();
    delete headers.connection;
  }
  const prepared = { status, headers, body };
  if (request.complete || request.readableEnded) return prepared;
  // If nothing has begun to read the body, Node itself reads it to its end.
  if (status === 503 && isShort(request)) return prepared;
  if ('stream' in request) {
    closeAfterResponse(request.stream);
    return prepared;
  }
  // Do not linger for slow senders: reading on does not help them, and some never finish.
  lingerAtClose(request.socket, status === 408 ? 0 : LINGER_BYTES);
  return { ...prepared, headers: { ...headers, connection: 'close' } };
}

function isShort({ headers, readableDidRead }: NodeRequest): boolean {
  return !readableDidRead && Number(headers['content-length']) <= LINGER_BYTES;
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** How many bytes of a rejected body the server still reads and discards, so that its sender sees the response. */
const LINGER_BYTES = 1024 * 1024;
/** The longest that the server does so, or waits for a stream to take the response. */
const LINGER_MS = 2000;

/**
 * Closes a stream of HTTP/2 after its response. A sender that lets no response through, because its window is 0, does
 * not keep the stream open.
 */
function closeAfterResponse(stream: ServerHttp2Stream): void {
  const timer = setTimeout(() => stream.destroy(), LINGER_MS).unref();
  stream.once('close', () => clearTimeout(timer));
  stream.once('finish', () => stream.close()).resume();
}

/**
 * Closes a connection in two steps after its last response (RFC 9112, section 9.6). If the server closed it at
 * once with unread bytes, the system would reset the connection, and a sender that is still sending would lose
 * the response.
 */
function lingerAtClose(socket: Socket, maxBytes: number): void {
  // Node's server calls `destroySoon` after the last response.
  socket.destroySoon = () => {
    let left = maxBytes;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    const drop = (bytes: Uint8Array) => {
      left -= bytes.length;
      // Stop reading. Backpressure then holds the sender up, so that it has time to see the response.
      if (left <= 0) socket.pause();
    };
    // Replaces the listener of Node's server, which would parse more requests out of the bytes.
    socket.removeAllListeners('data').on('data', drop);
    if (left > 0) socket.resume();
    else socket.pause();
    socket.on('close', () => clearTimeout(timer)).end();
  };
}

// Captured at import, before a test installs fake timers.
const afterThisTurn = setImmediate;
let turn: Promise<void> | undefined;

/**
 * Waits for the end of this turn of the event loop, so that the responses of one turn leave together: waking a
 * proxy on the same machine for each response takes longer than handling the delivery.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    afterThisTurn(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import type { WebhookResponse } from '../../src/outcome.js';
import type { Receive } from '../../src/receiver-source.js';
import { type NodeRequest, type NodeResponse, readRequest } from './node-request.js';

/** Responds to one request of Node's, and resolves when the response has been handed to Node. */
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
  /** A Buffer where it is bytes: Koa takes any other view for JSON. */
  readonly body: string | Buffer;
}

export async function toNodeResponse(
  { status, headers: given, body: content }: WebhookResponse<string | Uint8Array>,
  request: NodeRequest,
): Promise<PreparedResponse> {
  await endOfTurn();
  const body = typeof content === 'string' ? content : toBuffer(content);
  const { connection, ...rest } = given;
  const headers: Record<string, string> = {
    ...rest,
    // HTTP/2 has no such header.
    ...(connection !== undefined && !('stream' in request) && { connection }),
    'content-length': String(Buffer.byteLength(body)),
  };
  const prepared = { status, headers, body };
  if (request.complete || request.readableEnded) return prepared;
  if ('stream' in request) {
    const { stream } = request;
    stream.once('finish', () => stream.close()).resume();
    return prepared;
  }
  // Who is slow is not helped by being read for longer, and may never end.
  lingerAtClose(request.socket, status === 408 ? 0 : LINGER_BYTES);
  return { ...prepared, headers: { ...headers, connection: 'close' } };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** How much of a refused body is read and thrown away, and for how long, so that its sender sees the response. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2000;

/**
 * Has a connection closed in two steps once its last response has left (RFC 9112, 9.6). Whoever is still
 * sending would otherwise be reset, because bytes of it lie unread, and would lose the response with it.
 */
function lingerAtClose(socket: Socket, maxBytes: number): void {
  // What Node's server calls once the last response has left.
  socket.destroySoon = () => {
    let left = maxBytes;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    const drop = (bytes: Uint8Array) => {
      left -= bytes.length;
      // What is not read holds the sender up, which gives it the time to see the response.
      if (left <= 0) socket.pause();
    };
    // In place of the server's own listener, which would take more requests out of the bytes.
    socket.removeAllListeners('data').on('data', drop);
    if (left > 0) socket.resume();
    else socket.pause();
    socket.on('close', () => clearTimeout(timer)).end();
  };
}

// Kept from before anybody's fake timers.
const afterThisTurn = setImmediate;
let turn: Promise<void> | undefined;

/**
 * Waits for the end of this turn of the event loop, so that the responses of one turn leave together: to
 * wake a proxy on the same machine for each of them takes longer than to handle the delivery.
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

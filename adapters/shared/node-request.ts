import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import getRawBody from 'raw-body';
import { rememberSession } from '../../src/process/connections.js';
import type { ReadBody, WebhookRequest } from '../../src/request/request.js';
import { toPath } from './request.js';

/** The properties that frameworks and parsers add to a request. */
interface Extras {
  body?: unknown;
  rawBody?: unknown;
  originalUrl?: string;
}

/** Node's request, with the properties that a framework may have added. */
export type NodeRequest = (IncomingMessage | Http2ServerRequest) & Extras;

/** Node's response. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** @param extras - The object on which the framework keeps its properties, if not Node's request. */
export function readRequest(
  request: NodeRequest,
  response: NodeResponse,
  parsedBodyHint: string,
  extras: Extras = request,
): WebhookRequest {
  if ('stream' in request) rememberSession(request.stream.session);
  return {
    method: request.method ?? '',
    url: toPath(extras.originalUrl ?? request.url ?? ''),
    headers: 'stream' in request ? headersOfHttp2(request) : request.headers,
    body: bodyOf(request, extras, parsedBodyHint),
    responseSent: closed(request, response),
    isGone: () => isClosed(request, response),
  };
}

/** Returns the headers as HTTP/1.1 has them. A Fetch `Headers` throws at names such as `:path`. */
function headersOfHttp2({ headers, authority }: Http2ServerRequest): IncomingHttpHeaders {
  const fields = Object.entries(headers).filter(([name]) => !name.startsWith(':'));
  // Absent if the request names no host.
  if (authority) fields.push(['host', authority]);
  return Object.fromEntries(fields);
}

/** The response of HTTP/2 has no `destroyed`, although its type has. */
function isClosed(request: NodeRequest, response: NodeResponse): boolean {
  if ('stream' in response) return response.stream.destroyed;
  return response.destroyed || waitingOn(request, response)?.destroyed === true;
}

function closed(request: NodeRequest, response: NodeResponse): Promise<unknown> {
  if (isClosed(request, response)) return Promise.resolve();
  return new Promise((resolve) => {
    response.once('close', resolve);
    if (isMock(response)) response.once('finish', resolve);
    const connection = waitingOn(request, response);
    if (!connection) return;
    const others = endingsOf(connection).add(resolve);
    response.once('close', () => others.delete(resolve));
  });
}

/** Whether a serverless host takes the response, through an object that is no socket. The response never closes then. */
function isMock(response: NodeResponse): boolean {
  if ('stream' in response || !response.socket) return false;
  return typeof response.socket.once !== 'function';
}

/**
 * The connection of a pipelined response that waits until the ones before it are sent. If the connection ends
 * meanwhile, Node does not tell the response.
 */
function waitingOn({ socket }: NodeRequest, response: NodeResponse): Socket | undefined {
  // Mocks may have anything as their socket.
  return response.socket || typeof socket?.once !== 'function' ? undefined : socket;
}

/** The functions to call when a connection ends. Many requests on one connection share one listener. */
const endings = new WeakMap<Socket, Set<(value?: unknown) => void>>();

function endingsOf(connection: Socket): Set<(value?: unknown) => void> {
  const known = endings.get(connection);
  if (known) return known;
  const added = new Set<(value?: unknown) => void>();
  endings.set(connection, added);
  connection.once('close', () => {
    for (const end of added) end();
  });
  return added;
}

function bodyOf(request: NodeRequest, extras: Extras, hint: string): WebhookRequest['body'] {
  const kept = keptBytes(extras) ?? keptBytes(request);
  if (kept) return kept;
  // Look at the stream, not at `body`: Express 4 sets `body` to {} without reading.
  if (request.readableDidRead || request.readableEncoding !== null) return { consumed: hint };
  const stream: Readable = request;
  const length = request.headers['content-length'] ?? null;
  // Another listener, such as a logger, has the body flow at the end of this tick: before the receiver listens.
  if (stream.readableFlowing) held.add(stream.pause());
  return toRead(stream, length);
}

/** The bodies that flowed to another listener, and are paused until the receiver reads or discards them. */
const held = new WeakSet<Readable>();

/** Has a body that was held flow again. If it stayed paused, no more requests would arrive on its connection. */
export function release(body: Readable): void {
  if (held.delete(body)) body.resume();
}

/** Returns the bytes that a parser leaves on the framework's request, or a platform on Node's. */
function keptBytes({ rawBody, body }: Extras): Buffer | undefined {
  if (Buffer.isBuffer(rawBody)) return rawBody;
  return Buffer.isBuffer(body) ? body : undefined;
}

/** Returns a function that reads a body to its end, unless the receiver stops it. */
function toRead(body: Readable, length: string | null): ReadBody {
  return (_limit, onBytes, whenOver) => {
    let isReading = true;
    const count = (piece: Uint8Array) => {
      try {
        onBytes(piece.length);
      } catch {
        // The reading has been stopped, and raw-body does not keep the piece.
      }
    };
    const stop = () => {
      // After a disconnection, raw-body may listen no more. An error to which no one listens would end the process.
      if (!isReading || body.listenerCount('error') === 0) return;
      isReading = false;
      body.off('data', count);
      // Makes raw-body release the pieces. If the request were destroyed instead, no response could be sent.
      body.emit('error', new Error('The receiver has stopped reading.'));
    };
    whenOver(stop);
    // Before raw-body listens.
    body.on('data', count);
    const read = getRawBody(body, { length });
    release(body);
    return read.finally(() => {
      isReading = false;
    });
  };
}

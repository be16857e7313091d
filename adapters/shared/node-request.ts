import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Readable } from 'node:stream';
import getRawBody from 'raw-body';
import type { WebhookRequest } from '../../src/request/request.js';
import { maxPieces, tooManyPieces, toPath } from './request.js';

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

/** @param extras - Where the framework keeps what it has read, if not on Node's request. */
export function readRequest(
  request: NodeRequest,
  response: NodeResponse,
  parsedBodyHint: string,
  extras: Extras = request,
): WebhookRequest {
  return {
    method: request.method ?? '',
    url: toPath(extras.originalUrl ?? request.url ?? ''),
    headers: request.headers,
    body: bodyOf(request, extras, parsedBodyHint),
    responseSent: closed(response),
  };
}

function closed(response: NodeResponse): Promise<unknown> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => response.once('close', resolve));
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
  let left = maxPieces(limit);
  body.on('data', function count() {
    left -= 1;
    if (left >= 0) return;
    body.off('data', count);
    // For raw-body, which lets go of the pieces: a request that is destroyed could get no response any more.
    body.emit('error', tooManyPieces());
  });
}

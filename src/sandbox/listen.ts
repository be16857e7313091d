import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { isLoopback } from '../address.js';
import { ErrorAnswer, textOf } from './service/answers.js';

/** A sandbox that is served. */
export interface Listening {
  /** Such as `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  /** Stops serving. Requests that are under way are answered, if they are whole within two seconds. */
  close(): Promise<void>;
}

/** Serves requests on loopback, for nobody outside of this machine. */
export async function listen(
  fetch: (request: Request) => Promise<Response> | Response,
  port: number,
): Promise<Listening> {
  const listener = getRequestListener(
    async (request, { outgoing }) => {
      const response = await fetch(request);
      return 'assignSocket' in outgoing && send(response, outgoing)
        ? RESPONSE_ALREADY_SENT
        : response;
    },
    // Whoever imports this keeps their own Request and Response.
    { overrideGlobalObjects: false },
  );
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isFromHere(incoming.headers)) void listener(incoming, outgoing);
    else send(new ErrorAnswer(403, { message: NOT_FROM_HERE }).toResponse(), outgoing);
  };
  // Without a Host, the answer is the one above, which says why.
  const server = createServer({ requireHostHeader: false }, answer)
    .on('checkExpectation', answer)
    .on('clientError', refuse);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      server.close();
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await once(server, 'close');
      clearTimeout(late);
    },
  };
}

/** Sends an answer whose text is known at once, which takes half the time of a stream; `false` for another one. */
function send(response: Response, outgoing: ServerResponse): boolean {
  const text = textOf(response);
  if (text === undefined) return false;
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    // With it, head and body leave in one piece.
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
  return true;
}

/** Answers what is no HTTP, in the shape of every error (specification: Errors). */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return;
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const message = isLarge ? 'The headers are too large.' : 'The request is no HTTP.';
  const text = JSON.stringify({ message, errors: [message] });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
  );
}

/** How long a client is waited for that does not come to the end of its request. */
const GRACE_MS = 2_000;

const NOT_FROM_HERE =
  'The sandbox answers only requests of this machine, to a host on loopback such as localhost.';

/**
 * Whether a request is meant for this machine. A page from elsewhere, in a browser here, could otherwise reach the
 * sandbox: by a name that it has pointed at this machine, or by a form.
 */
function isFromHere(headers: IncomingHttpHeaders): boolean {
  if (!isOnLoopback(`http://${headers.host}`)) return false;
  if (headers.origin !== undefined) return isOnLoopback(headers.origin);
  // A link that leads here may be anywhere, such as on the seller's own page.
  return headers['sec-fetch-site'] !== 'cross-site' || headers['sec-fetch-mode'] === 'navigate';
}

function isOnLoopback(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin));
}

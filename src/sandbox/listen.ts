import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { isOfForeignPage, isOnLoopback } from '../runtime/foreign-page.js';
import { ErrorAnswer, textOf } from './service/answers.js';

/** A sandbox that listens on a port. */
export interface Listening {
  /** The address of the sandbox, such as `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  /** Stops listening. Requests in progress are answered if they end within two seconds. */
  close(): Promise<void>;
}

/** Serves requests on loopback, so that only this machine can reach the sandbox. */
export async function listen(
  fetch: (request: Request) => Promise<Response> | Response,
  port: number,
): Promise<Listening> {
  // These extend the global Request and Response as soon as they are loaded. jsdom has neither.
  const [{ getRequestListener }, { RESPONSE_ALREADY_SENT }] = await Promise.all([
    import('@hono/node-server'),
    import('@hono/node-server/utils/response'),
  ]);
  const listener = getRequestListener(
    async (request, { outgoing }) => {
      const response = await fetch(request);
      return 'assignSocket' in outgoing && send(response, outgoing)
        ? RESPONSE_ALREADY_SENT
        : response;
    },
    // The importing program keeps its own Request and Response.
    { overrideGlobalObjects: false },
  );
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isFromHere(incoming.headers)) void listener(incoming, outgoing);
    else send(new ErrorAnswer(403, { message: NOT_FROM_HERE }).toResponse(), outgoing);
  };
  // A request without a Host header gets the 403 above, whose message gives the reason.
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

/**
 * Sends a response whose text is known, in half the time that its stream would take. Returns `false` for any
 * other response.
 */
function send(response: Response, outgoing: ServerResponse): boolean {
  const text = textOf(response);
  if (text === undefined) return false;
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    // With a length, head and body leave in one piece.
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
  return true;
}

/** Answers bytes that are not valid HTTP, in the shape of every error (specification: Errors). */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return;
  const isLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const message = isLarge ? 'The headers are too large.' : 'The request is not valid HTTP.';
  const text = JSON.stringify({ message, errors: [message] });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
  );
}

/** How long `close()` waits for requests in progress, in milliseconds. */
const GRACE_MS = 2_000;

const NOT_FROM_HERE =
  'The sandbox answers only requests from this machine to a loopback host, such as localhost.';

/**
 * Returns whether a request is meant for this machine. Without this check, a foreign page in a local browser
 * could reach the sandbox: by a host name that resolves to this machine, or by a form.
 */
function isFromHere(headers: IncomingHttpHeaders): boolean {
  return isOnLoopback(`http://${headers.host}`) && !isOfForeignPage(headers);
}

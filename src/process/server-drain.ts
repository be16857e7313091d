import { UsageError } from '../errors/errors.js';
import { nameType } from '../runtime/bytes.js';
import { pause } from '../runtime/timing.js';
import { atEndOfTurn } from '../runtime/turn.js';
import { connectionsOf, type Http2Session, sessionsOf } from './connections.js';

/** A server of `node:http`, as from `app.listen()` and `serve()`; of `Bun.serve()`; or of `Deno.serve()`. */
export type ClosableServer = NodeServer | { stop(): unknown } | { shutdown(): unknown };

interface NodeServer {
  close(done?: (error?: Error) => void): unknown;
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

interface ServerEvents {
  prependListener(
    event: 'request',
    listener: (request: unknown, response: ResponseHead) => void,
  ): unknown;
  prependListener(event: 'connection' | 'secureConnection', listener: () => void): unknown;
  removeListener(event: 'connection', listener: () => void): unknown;
}

interface ResponseHead {
  readonly headersSent: boolean;
  readonly req?: { readonly httpVersionMajor: number };
  /** Of HTTP/2 only. */
  readonly stream?: { readonly session?: Http2Session | undefined };
  setHeader(name: string, value: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface DrainHow {
  readonly isOver: () => boolean;
  readonly onStopped: () => void;
}

/** How long a keep-alive connection, or a session of HTTP/2, may be idle before it is closed. */
const QUIET_MS = 1_000;
const LOOK_MS = 50;
/** How long the server goes on accepting while new connections arrive. */
const ACCEPT_MS = 1_000;
const QUIET_TURNS = 2;
const SHORT_TURN_MS = 0.1;

/** Whether the value is a server that can be drained: plain JavaScript may pass anything, such as the application. */
function isServer(server: unknown): server is ClosableServer {
  if (typeof server !== 'object' || server === null) return false;
  return ['close', 'stop', 'shutdown'].some(
    (method) => method in server && typeof Reflect.get(server, method) === 'function',
  );
}

/**
 * Stops accepting connections, and closes each open one after its next response, so that keep-alive clients
 * reconnect to another server. Requests that have been sent are answered as usual.
 *
 * @param how.isOver - Whether to give up. Connections that are still open are then cut off.
 * @param how.onStopped - Called when the server accepts no more connections.
 * @throws {UsageError} `option_invalid` if it is no server.
 */
export async function drain(server: unknown, how: DrainHow): Promise<void> {
  if (!isServer(server)) throw noServer(server);
  if ('close' in server) return drainNode(server, how);
  const { isOver, onStopped } = how;
  let isClosed = false;
  const closing = Promise.resolve('stop' in server ? server.stop() : server.shutdown());
  onStopped();
  const close = () => {
    isClosed = true;
  };
  closing.then(close, close);
  while (!isClosed && !isOver()) await pause(LOOK_MS);
  // Awaited for its error: if the server could not be stopped, it still accepts requests.
  if (isClosed) await closing;
}

function noServer(given: unknown): UsageError {
  return new UsageError(
    'option_invalid',
    'close({ server }) needs the server that app.listen() returns, not the application, but got ' +
      `${nameType(given)}. The server was not stopped, so deliveries that still arrive are answered 503.`,
  );
}

async function drainNode(server: NodeServer, { isOver, onStopped }: DrainHow): Promise<void> {
  let isClosed = false;
  const stopListening = closeOf(server, () => {
    isClosed = true;
  });
  if (emitsEvents(server)) await acceptAll(server, isOver);
  stopListening();
  // Not earlier: a client whose connection is closed would reconnect, and be reset when the server stops
  // listening.
  onStopped();
  let lastRequestAt = performance.now();
  if (emitsEvents(server)) {
    // The first request follows the TLS handshake.
    server.prependListener('secureConnection', () => {
      lastRequestAt = performance.now();
    });
    server.prependListener('request', (_, response) => {
      lastRequestAt = performance.now();
      const session = response.stream?.session;
      // Node 20 and 22 leave it open. Not earlier: requests that arrived with this one would be lost.
      if (session) response.once('close', () => session.close());
      const isFirst = response.req?.httpVersionMajor === 1 && !response.headersSent;
      if (isFirst) response.setHeader('connection', 'close');
    });
  }
  while (!isClosed && !isOver()) {
    await pause(LOOK_MS);
    // After a process stood still, its timers come first, and then the requests that have arrived meanwhile.
    await endOfTurn();
    // Not at once, because a request may be on its way.
    if (performance.now() - lastRequestAt <= QUIET_MS) continue;
    server.closeIdleConnections?.();
    // Open streams of a closed session still finish.
    for (const session of sessionsOf(server)) session.close();
    // Each has been silent for a second at least, since the server stopped accepting or since its TLS handshake. Its
    // first request is lost if it arrives at this moment, as on a connection that is idle after a response.
    for (const connection of connectionsOf(server)) {
      if (connection.bytesRead === 0) connection.destroy();
    }
  }
  server.closeAllConnections?.();
  for (const session of sessionsOf(server)) session.destroy();
  // Those in no list of Node, such as one in its TLS handshake: they would keep the process alive.
  for (const connection of connectionsOf(server)) connection.destroy();
}

/**
 * Accepts the connections that are waiting, because the system would reset them when the server stops listening.
 * Node may accept only one in each turn of its event loop.
 */
async function acceptAll(server: ServerEvents, isOver: () => boolean): Promise<void> {
  let quietTurns = 0;
  const onConnection = () => {
    quietTurns = -1;
  };
  let giveUpAt = performance.now() + ACCEPT_MS;
  server.prependListener('connection', onConnection);
  while (quietTurns < QUIET_TURNS && performance.now() < giveUpAt && !isOver()) {
    const beganAt = performance.now();
    await endOfTurn();
    const tookMs = performance.now() - beganAt;
    // After a long turn, new connections may not have been accepted yet, however late it is.
    quietTurns = tookMs < SHORT_TURN_MS ? quietTurns + 1 : 0;
    if (tookMs > LOOK_MS) giveUpAt += tookMs;
  }
  server.removeListener('connection', onConnection);
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => atEndOfTurn(resolve));
}

function emitsEvents(server: NodeServer): server is NodeServer & ServerEvents {
  return ['prependListener', 'removeListener'].every(
    (method) => method in server && typeof Reflect.get(server, method) === 'function',
  );
}

/**
 * How to stop listening without closing idle connections, as `close` of an HTTP server does: it would cut off
 * a client whose request has arrived and has not been read yet.
 */
function closeOf(server: NodeServer, done: () => void): () => void {
  const { Server } = globalThis.process?.getBuiltinModule?.('node:net') ?? {};
  const isOfHttp1 = typeof server.closeIdleConnections === 'function';
  if (isOfHttp1 && Server && server instanceof Server) {
    // The first call compiles the method. A connection that arrives between the last turn and the call is reset.
    new Server().close();
    return () => Server.prototype.close.call(server, done);
  }
  return () => server.close(done);
}

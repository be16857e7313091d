import { atEndOfTurn, pause } from '../timing.js';

/** A server of `node:http`, as `app.listen()` and `serve()` give it; of `Bun.serve()`; or of `Deno.serve()`. */
export type ClosableServer = NodeServer | { stop(): unknown } | { shutdown(): unknown };

interface NodeServer {
  close(done?: (error?: Error) => void): unknown;
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

interface RequestEmitter {
  prependListener(
    event: 'request',
    listener: (request: unknown, response: ResponseHead) => void,
  ): unknown;
}

interface ResponseHead {
  readonly headersSent: boolean;
  readonly req?: { readonly httpVersionMajor: number };
  setHeader(name: string, value: string): unknown;
}

interface DrainHow {
  readonly isOver: () => boolean;
  readonly onStopped: () => void;
}

/** How long a connection may be quiet that somebody keeps open, before it is closed. */
const QUIET_MS = 1_000;
const LOOK_MS = 50;
const SHORT_MS = 0.2;
const MAX_TURNS = 100;

/** Whether it can be drained: plain JavaScript may pass anything, such as the application. */
export function isServer(server: unknown): server is ClosableServer {
  if (typeof server !== 'object' || server === null) return false;
  return ['close', 'stop', 'shutdown'].some(
    (method) => method in server && typeof Reflect.get(server, method) === 'function',
  );
}

/**
 * Takes no new connections, and has those that there are end with their next answer: whoever keeps one
 * open goes elsewhere with what comes after it. What has been sent is answered as ever.
 *
 * @param how.isOver - When it is given up: what is still connected is cut off.
 * @param how.onStopped - Called when nobody can connect any more.
 */
export async function drain(server: ClosableServer, how: DrainHow): Promise<void> {
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
  // Thrown where the server could not be stopped: it still takes what comes.
  if (isClosed) await closing;
}

async function drainNode(server: NodeServer, { isOver, onStopped }: DrainHow): Promise<void> {
  let isClosed = false;
  let lastRequestAt = performance.now();
  await shortTurn();
  stopListening(server, () => {
    isClosed = true;
  });
  // It is told now and not before: a sender that is sent away would connect again, and be reset with the server's socket.
  onStopped();
  if (emitsRequests(server)) {
    server.prependListener('request', (_, response) => {
      lastRequestAt = performance.now();
      // A server of HTTP/2 says so by itself.
      const isFirst = response.req?.httpVersionMajor === 1 && !response.headersSent;
      if (isFirst) response.setHeader('connection', 'close');
    });
  }
  while (!isClosed && !isOver()) {
    await pause(LOOK_MS);
    // Not at once, because a request may be on its way.
    if (performance.now() - lastRequestAt > QUIET_MS) server.closeIdleConnections?.();
  }
  server.closeAllConnections?.();
}

/**
 * The end of a turn in which little was done. Who has connected is taken at its beginning; who has since is
 * reset with the server's socket.
 */
async function shortTurn(): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const startedAt = performance.now();
    await new Promise<void>((resolve) => atEndOfTurn(resolve));
    if (performance.now() - startedAt < SHORT_MS) return;
  }
}

function emitsRequests(server: NodeServer): server is NodeServer & RequestEmitter {
  return 'prependListener' in server && typeof server.prependListener === 'function';
}

/** Without what `close` of an HTTP server does as well: it would cut off who has sent and is not read yet. */
function stopListening(server: NodeServer, done: () => void): void {
  const { Server } = globalThis.process?.getBuiltinModule?.('node:net') ?? {};
  const isOfHttp1 = typeof server.closeIdleConnections === 'function';
  if (isOfHttp1 && Server && server instanceof Server) Server.prototype.close.call(server, done);
  else server.close(done);
}

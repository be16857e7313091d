import { createServer, type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { UsageError } from '../errors/errors.js';
import type { WebhookResponse } from '../request/outcome.js';
import type { WebhookRequest } from '../request/request.js';
import { SIGN, type Signing } from '../request/secrets.js';
import { isLoopback, parseAddress } from '../runtime/address.js';
import { toUtf8 } from '../runtime/bytes.js';
import { nameUrl, sendOverHttp } from './http.js';
import type { OutgoingRequest } from './prepare.js';
import { ResponseBody, type TargetResponse, within } from './response.js';

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown;
type FetchHandler = (request: Request) => Response | Promise<Response>;

/** A receiver, or goods. */
export interface ReceiverLike {
  receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>>;
  readonly [SIGN]: Signing;
}

/**
 * A target that a delivery can be replayed to: a receiver or goods; the address of a running server; a Node
 * server; an Express, Koa or Fastify application; a Node handler; a fetch handler, or an object that has one.
 */
export type ReplayTarget =
  | ReceiverLike
  | string
  | URL
  | Server
  | NodeHandler
  | FetchHandler
  | { callback(): NodeHandler }
  | { ready(): PromiseLike<unknown>; readonly server: Server }
  | { fetch(request: Request): Response | Promise<Response> };

/** A target that is ready for requests. */
export interface OpenTarget {
  /** The target's name, as the subject of a sentence. */
  readonly name: string;
  /** Sends a request. The signal fires when the caller no longer waits for the answer. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<TargetResponse>;
  close(): Promise<void>;
}

interface Way {
  readonly path: string;
  readonly timeout: number;
  readonly plainHttp: boolean;
}

export function isReceiver(target: unknown): target is ReceiverLike {
  return typeof target === 'object' && target !== null && SIGN in target;
}

/** Makes a target ready for requests. Serves an application on a loopback port until the target is closed. */
export async function openTarget(target: ReplayTarget, way: Way): Promise<OpenTarget> {
  const { path, timeout, plainHttp } = way;
  if (typeof target === 'string' || target instanceof URL) {
    return openUrl(readAddress(target, plainHttp));
  }
  if (target instanceof Server) {
    return target.listening
      ? openUrl(pathOn(originOf(target), path))
      : serve((request, response) => target.emit('request', request, response), path);
  }
  if (isReceiver(target)) return openReceiver(target, path);
  if (typeof target === 'function') {
    return target.length >= 2
      ? serve(target as NodeHandler, path)
      : openFetch(target as FetchHandler, path);
  }
  if (typeof target === 'object' && target !== null) {
    if ('callback' in target) return serve(target.callback(), path);
    if ('ready' in target) {
      await within(timeout, 'The application did not get ready', () => target.ready());
      return openTarget(target.server, way);
    }
    if ('fetch' in target) return openFetch((request) => target.fetch(request), path);
  }
  throw new UsageError(
    'target_invalid',
    'replay() takes a receiver, an address, a Node server, an Express, Koa or Fastify application, ' +
      'or a fetch handler as its first argument.',
  );
}

function openUrl(url: URL): OpenTarget {
  return {
    name: nameUrl(url),
    send: (request, signal) => sendOverHttp(url, request, signal),
    close: async () => {},
  };
}

/**
 * Reads an address. Deliveries are correctly signed and stay valid forever, so they are not sent over an
 * unencrypted network unless the caller allows it.
 *
 * @throws {UsageError} `target_invalid` or `option_invalid`
 */
export function readAddress(address: string | URL, plainHttp: boolean): URL {
  const url = parseAddress(`${address}`);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(
      'target_invalid',
      'replay() cannot send to this address: pass a complete one, such as http://localhost:3000/webhooks.',
    );
  }
  if (url.protocol === 'http:' && !plainHttp && !isLoopback(url)) {
    throw new UsageError(
      'option_invalid',
      `replay() would send a genuine delivery to ${nameUrl(url)}, where anyone on the network path can read it and send it again. ` +
        'Use https:, or on a network that you trust { plainHttp: true }, in a command --plain-http.',
    );
  }
  return url;
}

/** Appends a path to an origin. A path such as "//host/x" does not change the host. */
function pathOn(origin: string, path: string): URL {
  return new URL(origin + (path.startsWith('/') ? path : `/${path}`));
}

/** Serves a handler on a loopback port. */
async function serve(handler: NodeHandler, path: string): Promise<OpenTarget> {
  const server = createServer(handler);
  // Track all sockets: the server forgets those that have left HTTP, and would wait for them to end.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    ...openUrl(pathOn(originOf(server), path)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function originOf(server: Server): string {
  const at = server.address();
  if (typeof at !== 'object' || at === null) {
    throw new UsageError(
      'target_invalid',
      'replay() cannot send to a server on a pipe: pass one on a port.',
    );
  }
  const any = at.address === '::' || at.address === '0.0.0.0';
  const host = any ? '127.0.0.1' : at.family === 'IPv6' ? `[${at.address}]` : at.address;
  return `http://${host}:${at.port}`;
}

function openReceiver(receiver: ReceiverLike, path: string): OpenTarget {
  return {
    name: 'The receiver',
    async send({ method, headers, body }) {
      const request = { method, url: path, headers: joinHeaders(headers), body };
      const response = await receiver.receive(request);
      const bytes = typeof response.body === 'string' ? toUtf8(response.body) : response.body;
      return { ...response, body: bytes };
    },
    close: async () => {},
  };
}

function openFetch(handler: FetchHandler, path: string): OpenTarget {
  const name = 'The fetch handler';
  return {
    name,
    async send({ method, headers, body }, signal) {
      const init = { method, headers: new Headers(headers.map(([name, value]) => [name, value])) };
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const request = new Request(
        pathOn('http://127.0.0.1', path),
        hasBody ? { ...init, body } : init,
      );
      const response = await handler(request);
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await readBody(response, name, signal),
      };
    },
    close: async () => {},
  };
}

async function readBody(
  { body }: Response,
  from: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const read = new ResponseBody(from);
  const reader = body?.getReader();
  const cancel = () => reader?.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  try {
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
      read.add(piece.value);
    }
  } catch (error) {
    void cancel();
    throw error;
  }
  return read.whole();
}

/** Joins a repeated header with commas, as Node does. */
export function joinHeaders(headers: OutgoingRequest['headers']): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of headers) {
    const earlier = joined.get(name.toLowerCase());
    joined.set(name.toLowerCase(), earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(joined);
}

import { createServer, type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { UsageError } from '../errors.js';
import type { Reply } from '../reply.js';
import type { WebhookRequest } from '../request.js';
import { SIGN } from '../sign-symbol.js';
import { type Answer, sendOverHttp } from './http.js';
import type { OutgoingRequest } from './prepare.js';

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown;
type FetchHandler = (request: Request) => Response | Promise<Response>;

interface ReceiverLike {
  receive(request: WebhookRequest): Promise<Reply>;
  [SIGN](request: WebhookRequest, body: Uint8Array): Promise<string>;
}

/**
 * What a delivery can be replayed to: a receiver; the address of a running server; a Node server; an
 * Express, Koa or Fastify application; a Node handler; a fetch handler, or an object that has one.
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

/** A target that is ready to be sent to. */
export interface OpenTarget {
  send(request: OutgoingRequest): Promise<Answer>;
  close(): Promise<void>;
}

export function isReceiver(target: unknown): target is ReceiverLike {
  return typeof target === 'object' && target !== null && SIGN in target;
}

/** Makes a target ready; an application is served on a loopback port for as long as it is open. */
export async function openTarget(target: ReplayTarget, path: string): Promise<OpenTarget> {
  if (typeof target === 'string' || target instanceof URL) return openUrl(new URL(target));
  if (target instanceof Server) {
    return target.listening
      ? openUrl(new URL(path, originOf(target)))
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
      await target.ready();
      return openTarget(target.server, path);
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
  return { send: (request) => sendOverHttp(url, request), close: async () => {} };
}

/** Serves a handler on a loopback port of its own. */
async function serve(handler: NodeHandler, path: string): Promise<OpenTarget> {
  const server = createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    ...openUrl(new URL(path, originOf(server))),
    close: async () => {
      server.closeAllConnections();
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
    send: ({ method, headers, body }) =>
      receiver.receive({ method, url: path, headers: join(headers), body }),
    close: async () => {},
  };
}

function openFetch(handler: FetchHandler, path: string): OpenTarget {
  return {
    async send({ method, headers, body }) {
      const init = { method, headers: new Headers(headers.map(([name, value]) => [name, value])) };
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const request = new Request(
        new URL(path, 'http://127.0.0.1'),
        hasBody ? { ...init, body } : init,
      );
      const response = await handler(request);
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      };
    },
    close: async () => {},
  };
}

/** As Node gives them: a header that stands there twice is joined with a comma. */
function join(headers: OutgoingRequest['headers']): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of headers) {
    const earlier = joined.get(name.toLowerCase());
    joined.set(name.toLowerCase(), earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(joined);
}

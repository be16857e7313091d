import { rememberSessionsOf } from './http2-sessions.js';

/** The part of a `net.Socket` that ending a connection needs. */
interface Connection {
  readonly bytesRead: number;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface ConnectionServer {
  on(event: 'secureConnection', listener: (connection: Connection) => void): unknown;
}

type Open = WeakMap<object, Set<Connection>>;

// An application may load this package twice, and a development server or Jest loads it again and again.
const OPEN: unique symbol = Symbol.for('storefront-webhooks.connections') as never;
const channels: (typeof import('node:diagnostics_channel') & { [OPEN]?: Open }) | undefined =
  globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');

/**
 * The open connections of each server, and their TLS sockets. Node does not list a connection before its TLS handshake
 * or its first request.
 */
const open: Open = channels?.[OPEN] ?? new WeakMap();

export function connectionsOf(server: object): Iterable<Connection> {
  return open.get(server) ?? [];
}

/** Remembers each later TLS socket and session of HTTP/2 of a server, and returns its open connections. */
function rememberServer(server: object & ConnectionServer): Set<Connection> {
  const known = open.get(server);
  if (known) return known;
  const connections = new Set<Connection>();
  open.set(server, connections);
  server.on('secureConnection', (connection) => remember(connection, connections));
  rememberSessionsOf(server);
  return connections;
}

function remember(connection: Connection, connections: Set<Connection>): void {
  connections.add(connection);
  connection.once('close', () => connections.delete(connection));
}

function isServer(value: unknown): value is ConnectionServer {
  return typeof value === 'object' && value !== null && 'on' in value;
}

function isConnection(value: unknown): value is Connection & { readonly server: unknown } {
  return typeof value === 'object' && value !== null && 'bytesRead' in value && 'server' in value;
}

if (channels && !channels[OPEN]) {
  channels[OPEN] = open;
  // Not at the first webhook: a server may stop before one arrives.
  channels.subscribe('tracing:net.server.listen:asyncStart', (message) => {
    if (isListening(message) && isServer(message.server)) rememberServer(message.server);
  });
  // The server may listen before this module is loaded.
  channels.subscribe('net.server.socket', (message) => {
    if (!isAccepted(message) || !isConnection(message.socket)) return;
    const { server } = message.socket;
    if (isServer(server)) remember(message.socket, rememberServer(server));
  });
}

function isListening(message: unknown): message is { readonly server: unknown } {
  return typeof message === 'object' && message !== null && 'server' in message;
}

function isAccepted(message: unknown): message is { readonly socket: unknown } {
  return typeof message === 'object' && message !== null && 'socket' in message;
}

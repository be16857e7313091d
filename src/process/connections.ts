/** The part of a `net.Socket` that ending a connection needs. */
interface Connection {
  readonly bytesRead: number;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** The part of a session of `node:http2` that ending it needs. */
export interface Http2Session {
  close(): void;
  destroy(): void;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Of each server: its open connections, with its TLS sockets, and its open sessions of HTTP/2. Node does not list a
 * session, nor a connection before its TLS handshake or its first request.
 */
interface Open {
  readonly connections: WeakMap<object, Set<Connection>>;
  readonly sessions: WeakMap<object, Set<Http2Session>>;
}

// An application may load this package twice, and a development server or Jest loads it again and again.
const OPEN: unique symbol = Symbol.for('storefront-webhooks.connections') as never;
const channels: (typeof import('node:diagnostics_channel') & { [OPEN]?: Open }) | undefined =
  globalThis.process?.getBuiltinModule?.('node:diagnostics_channel');
const open: Open = channels?.[OPEN] ?? { connections: new WeakMap(), sessions: new WeakMap() };

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

export function connectionsOf(server: object): Iterable<Connection> {
  return open.connections.get(server) ?? [];
}

export function sessionsOf(server: object): Iterable<Http2Session> {
  return open.sessions.get(server) ?? [];
}

/** Remembers each later TLS socket and session of HTTP/2 of a server, and returns its open connections. */
function rememberServer(server: object & Server): Set<Connection> {
  const known = open.connections.get(server);
  if (known) return known;
  const connections = new Set<Connection>();
  open.connections.set(server, connections);
  server.on('secureConnection', (connection) => remember(connection, connections));
  rememberSessionsOf(server);
  return connections;
}

/** Remembers the session of a request, and each later one of its server, so that `close` can end them. */
export function rememberSession(session: Http2Session | undefined): void {
  const server = session && 'server' in session ? session.server : undefined;
  if (session && isServer(server)) remember(session, rememberSessionsOf(server));
}

function rememberSessionsOf(server: object & Server): Set<Http2Session> {
  const known = open.sessions.get(server);
  if (known) return known;
  const sessions = new Set<Http2Session>();
  open.sessions.set(server, sessions);
  server.on('session', rememberSession);
  return sessions;
}

function remember<Kind extends Connection | Http2Session>(one: Kind, all: Set<Kind>): void {
  if (all.has(one)) return;
  all.add(one);
  one.once('close', () => all.delete(one));
}

interface Server {
  on(event: 'secureConnection', listener: (connection: Connection) => void): unknown;
  on(event: 'session', listener: (session: Http2Session) => void): unknown;
}

function isServer(value: unknown): value is object & Server {
  return (
    typeof value === 'object' && value !== null && 'on' in value && typeof value.on === 'function'
  );
}

function isConnection(value: unknown): value is Connection & { readonly server: unknown } {
  return typeof value === 'object' && value !== null && 'bytesRead' in value && 'server' in value;
}

function isListening(message: unknown): message is { readonly server: unknown } {
  return typeof message === 'object' && message !== null && 'server' in message;
}

function isAccepted(message: unknown): message is { readonly socket: unknown } {
  return typeof message === 'object' && message !== null && 'socket' in message;
}

/** The part of a session of `node:http2` that ending it needs. */
export interface Http2Session {
  close(): void;
  destroy(): void;
  once(event: 'close', listener: () => void): unknown;
}

/** The open sessions of each server. Node does not list them. */
const open = new WeakMap<object, Set<Http2Session>>();

export function sessionsOf(server: object): Iterable<Http2Session> {
  return open.get(server) ?? [];
}

interface SessionServer {
  on(event: 'session', listener: (session: Http2Session) => void): unknown;
}

function emitsSessions(server: object): server is SessionServer {
  return 'on' in server && typeof server.on === 'function';
}

/** Remembers the session of a request, and what {@link rememberSessionsOf} remembers, so that `close` can end them. */
export function rememberSession(session: Http2Session | undefined): void {
  const server = session && 'server' in session ? session.server : undefined;
  if (!session || typeof server !== 'object' || server === null) return;
  const sessions = rememberSessionsOf(server);
  if (sessions.has(session)) return;
  sessions.add(session);
  session.once('close', () => sessions.delete(session));
}

/** Remembers each later session of a server until it closes. */
export function rememberSessionsOf(server: object): Set<Http2Session> {
  let sessions = open.get(server);
  if (!sessions) {
    sessions = new Set();
    open.set(server, sessions);
    if (emitsSessions(server)) server.on('session', rememberSession);
  }
  return sessions;
}

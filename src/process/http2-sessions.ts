/** The part of a session of `node:http2` that ending it needs. */
export interface Http2Session {
  close(): void;
  destroy(): void;
  once(event: 'close', listener: () => void): unknown;
}

/** The open sessions of each server on which a request has arrived. Node does not list them. */
const open = new WeakMap<object, Set<Http2Session>>();

export function sessionsOf(server: object): Iterable<Http2Session> {
  return open.get(server) ?? [];
}

/** Remembers the session of a request until it closes, so that `close({ server })` can end it. */
export function rememberSession(session: Http2Session | undefined): void {
  const server = session && 'server' in session ? session.server : undefined;
  if (!session || typeof server !== 'object' || server === null) return;
  const sessions = open.get(server) ?? new Set<Http2Session>();
  if (sessions.has(session)) return;
  open.set(server, sessions.add(session));
  session.once('close', () => sessions.delete(session));
}

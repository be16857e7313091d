import { connect, type Socket } from 'node:net';

/** Returns the function that connects the sockets of postgres.js, which has no other limit for an answer. */
export function limitedSockets(limitMs: number): (target: SocketTarget) => Socket {
  let tries = 0;
  return ({ host: hosts, port: ports, path }) => {
    const host = hosts[tries % hosts.length] ?? 'localhost';
    const port = ports[tries++ % ports.length] ?? 5432;
    const socket = path ? connect(path) : connect(port, host);
    const limit = () => socket.setTimeout(limitMs, () => socket.destroy());
    // postgres.js sends the host's name to the server only if it finds it here.
    return Object.assign(socket, { host }).once('data', () => setImmediate(limit));
  };
}

/** Where postgres.js connects. */
interface SocketTarget {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false | undefined;
}

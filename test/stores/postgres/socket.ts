import { connect } from 'node:net';

let tries = 0;

/** The `socket` of docs/stores.md, for the options of postgres.js. */
export function socket({ host: hosts, port: ports }: { host: string[]; port: number[] }) {
  const host = hosts[tries % hosts.length];
  const connection = connect(ports[tries++ % ports.length] ?? 5432, host);
  const limit = () => connection.setTimeout(4000, () => connection.destroy());
  // postgres.js sends the host's name to the server only if it finds it here.
  return Object.assign(connection, { host }).once('data', () => setImmediate(limit));
}

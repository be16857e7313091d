import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Whether the server has executed the statement at which the connection is lost. */
export type Cut = 'before' | 'after';

/** A proxy between a client and its server that can drop connections. */
export interface Link {
  readonly url: string;
  /** Drops the connection at the next statement about deliveries. */
  cutNext(when: Cut): void;
  close(): Promise<void>;
}

/** A statement about deliveries, or a prepared one. */
const ABOUT_DELIVERIES = /webhook_delivery|EXECUTE "storefront-webhooks/;

/** ReadyForQuery outside a transaction: the statement is committed. */
const READY = Buffer.from('Z\0\0\0\x05I');

export async function startProxy(target: { host: string; port: number }): Promise<Link> {
  let next: Cut | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target);
    let cut: Cut | undefined;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (piece) => {
      if (next && ABOUT_DELIVERIES.test(piece.toString('latin1'))) {
        cut = next;
        next = undefined;
        if (cut === 'before') return end();
      }
      upstream.write(piece);
    });
    upstream.on('data', (piece) => {
      // The reply to a statement comes in one piece with this message. Before that, postgres.js reads its types.
      if (cut === 'after' && piece.subarray(-READY.length).equals(READY)) end();
      else client.write(piece);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return {
    url: `postgres://postgres@127.0.0.1:${address.port}/postgres`,
    cutNext(when) {
      next = when;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

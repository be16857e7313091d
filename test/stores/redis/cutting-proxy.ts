import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Cuts before the server gets the next script, or after it has run the script. */
export type Cut = 'before' | 'after';

/** A proxy that forwards connections, and cuts one in the middle of a script call. */
export async function startCuttingProxy(port: number) {
  let next: Cut | undefined;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let isCutting = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (piece) => {
      if (next && /\r\nevalsha\r\n/i.test(piece.toString('latin1'))) {
        if (next === 'before') end();
        else isCutting = true;
        next = undefined;
      }
      if (!upstream.destroyed) upstream.write(piece);
    });
    upstream.on('data', (piece) => {
      if (isCutting) end();
      else client.write(piece);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Cuts the next script call. */
    cut(where: Cut) {
      next = where;
    },
    /** Whether no call has been cut yet. */
    isArmed: () => next !== undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

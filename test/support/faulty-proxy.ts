import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a server that simulates faults of a network. */
export interface FaultyProxy {
  readonly port: number;
  /** Silences the existing connections, which stay open; new ones work. */
  silence(): void;
  /** Accepts connections and carries nothing on any of them, until it is healed. */
  blackHole(): void;
  /** Makes new connections work again. Silent ones stay silent, as in a network that has forgotten them. */
  heal(): void;
  /** Closes the existing connections. */
  cut(): void;
  /** Leads new connections to another server. The existing ones keep theirs. */
  leadTo(port: number): void;
  /** The next requests reach the server; instead of its answer, the connection is closed. */
  loseAnswers(count: number): void;
  /** The number of open connections that are not silent. */
  readonly open: number;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isSilent: boolean;
}

/**
 * @param to - The port of the server, on 127.0.0.1.
 * @param options.delayMs - How long bytes take to the server, and back. Default: 0.
 */
export async function startFaultyProxy(
  to: number,
  { delayMs = 0 }: { readonly delayMs?: number } = {},
): Promise<FaultyProxy> {
  const later = (carry: () => void) => (delayMs > 0 ? setTimeout(carry, delayMs) : carry());
  const pairs = new Set<Pair>();
  const swallowed = new Set<Socket>();
  let isBlackHole = false;
  let toLose = 0;
  let target = to;

  // A silent connection does not even answer a FIN.
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    client.on('error', () => {});
    if (isBlackHole) {
      swallow(client);
      return;
    }
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    server.on('error', () => {});
    const pair: Pair = { client, server, isSilent: false };
    pairs.add(pair);
    client.on('data', (bytes) => {
      if (!pair.isSilent) later(() => server.write(bytes));
    });
    server.on('data', (bytes) => {
      if (pair.isSilent) return;
      if (toLose > 0) {
        toLose -= 1;
        client.destroy();
      } else later(() => client.write(bytes));
    });
    client.on('end', () => {
      if (!pair.isSilent) client.end();
    });
    client.on('close', () => {
      pairs.delete(pair);
      server.destroy();
    });
    server.on('close', () => {
      if (!pair.isSilent) client.destroy();
    });
  });

  /** Reads and discards the bytes, so that the peer sees an open connection. */
  function swallow(socket: Socket): void {
    swallowed.add(socket);
    socket.on('close', () => swallowed.delete(socket)).resume();
  }

  function silence(): void {
    for (const pair of pairs) {
      pair.isSilent = true;
      // The last request may still be carried out: the server must not get the end too early.
      pair.server.end();
    }
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    silence,
    blackHole() {
      isBlackHole = true;
      silence();
    },
    heal() {
      isBlackHole = false;
    },
    cut() {
      for (const { client } of pairs) client.destroy();
    },
    leadTo(port) {
      target = port;
    },
    loseAnswers(count) {
      toLose = count;
    },
    get open() {
      return [...pairs].filter(({ isSilent }) => !isSilent).length;
    },
    async close() {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      for (const socket of swallowed) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

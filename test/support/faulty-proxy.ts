import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands before a server, and does to its connections what networks do. */
export interface FaultyProxy {
  readonly port: number;
  /** The connections that there are stay open and carry nothing any more; new ones work. */
  silence(): void;
  /** Connections are taken and carry nothing, also those that there are, until it is healed. */
  blackHole(): void;
  /** New connections work again. Those that went silent stay so, as in a network that has forgotten them. */
  heal(): void;
  /** Closes the connections that there are. */
  cut(): void;
  /** The next requests reach the server; in place of its answer, the connection is closed. */
  loseAnswers(count: number): void;
  /** How many connections are open and carry something. */
  readonly open: number;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isSilent: boolean;
}

/** @param to - The port of the server, on 127.0.0.1. */
export async function startFaultyProxy(to: number): Promise<FaultyProxy> {
  const pairs = new Set<Pair>();
  const swallowed = new Set<Socket>();
  let isBlackHole = false;
  let toLose = 0;

  // What is silent does not even say good-bye to a peer that does.
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    client.on('error', () => {});
    if (isBlackHole) {
      swallow(client);
      return;
    }
    const server = connect({ port: to, host: '127.0.0.1', noDelay: true });
    server.on('error', () => {});
    const pair: Pair = { client, server, isSilent: false };
    pairs.add(pair);
    client.on('data', (bytes) => {
      if (!pair.isSilent) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (pair.isSilent) return;
      if (toLose > 0) {
        toLose -= 1;
        client.destroy();
      } else client.write(bytes);
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

  /** Its bytes are taken and thrown away: its peer sees an open connection. */
  function swallow(socket: Socket): void {
    swallowed.add(socket);
    socket.on('close', () => swallowed.delete(socket)).resume();
  }

  function silence(): void {
    for (const pair of pairs) {
      pair.isSilent = true;
      // What it has asked for last may still be done: the server is told nothing before its time.
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

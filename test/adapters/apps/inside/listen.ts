import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Listening } from './contract.js';

/** Starts a Node server on a port that the system chooses. */
export async function listen(server: Server): Promise<Listening> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return listening(server);
}

/** The address of a listening server. */
export function listening(server: Server): Listening {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The server listens on no port.');
  return {
    port: address.port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Fetch = (request: Request) => Promise<Response>;

const { Bun, Deno } = globalThis as {
  Bun?: {
    serve(options: { port: number; hostname: string; fetch: Fetch }): {
      port: number;
      stop(): Promise<void>;
    };
  };
  Deno?: {
    serve(
      options: { port: number; hostname: string },
      handler: Fetch,
    ): { addr: { port: number }; shutdown(): Promise<void> };
  };
};

/** Serves a fetch handler as its runtime does; on Node, as Hono does. */
export async function listenToFetch(fetch: Fetch): Promise<Listening> {
  const where = { port: 0, hostname: '127.0.0.1' };
  if (Bun) {
    const server = Bun.serve({ ...where, fetch });
    return { port: server.port, close: () => server.stop() };
  }
  if (Deno) {
    const server = Deno.serve(where, fetch);
    return { port: server.addr.port, close: () => server.shutdown() };
  }
  return listen(createAdaptorServer({ fetch }) as Server);
}

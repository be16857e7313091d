import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';

/** A sandbox that is served. */
export interface Listening {
  /** Such as `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves requests on loopback, for nobody outside of this machine. */
export async function listen(
  fetch: (request: Request) => Promise<Response>,
  port: number,
): Promise<Listening> {
  const server = createAdaptorServer({ fetch });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

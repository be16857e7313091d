import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { isLoopback } from '../address.js';

/** A sandbox that is served. */
export interface Listening {
  /** Such as `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  /** Stops serving. Requests that are under way are answered. */
  close(): Promise<void>;
}

/** Serves requests on loopback, for nobody outside of this machine. */
export async function listen(
  fetch: (request: Request) => Promise<Response> | Response,
  port: number,
): Promise<Listening> {
  // Whoever imports this keeps their own Request and Response.
  const options = { overrideGlobalObjects: false };
  const listener = getRequestListener(
    (request) => (isFromHere(request) ? fetch(request) : REFUSED.clone()),
    options,
  );
  const server = createServer(listener);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      server.close();
      server.closeIdleConnections();
      await once(server, 'close');
    },
  };
}

const REFUSED = Response.json(
  { message: 'The sandbox answers only requests of this machine, to a host on loopback.' },
  { status: 403 },
);

/**
 * Whether a request is meant for this machine. A page from elsewhere, in a browser here, could otherwise reach the
 * sandbox: by a name that it has pointed at this machine, or by a form.
 */
function isFromHere(request: Request): boolean {
  if (!isLoopback(new URL(request.url))) return false;
  const origin = request.headers.get('origin');
  if (origin !== null) return URL.canParse(origin) && isLoopback(new URL(origin));
  const site = request.headers.get('sec-fetch-site');
  // A link that leads here may be anywhere, such as on the seller's own page.
  return site !== 'cross-site' || request.headers.get('sec-fetch-mode') === 'navigate';
}

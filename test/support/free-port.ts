import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a free port, for a program that cannot choose one itself. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return address.port;
}

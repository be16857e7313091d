import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { socket } from '../../../stores/postgres/socket.js';

// Not in the fast tier, whose files share a process: the driver connects once more after the test, and would give an
// immediate of a later file's fake clock to the real clearImmediate.
test('the socket that the page has for postgres.js tries the next host, and names it to a server with TLS', async () => {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const options = { max: 1, backoff: () => 0, socket };
  const sql = postgres(`postgres://shop@127.0.0.1:1,localhost:${port}/?sslmode=require`, options);
  onTestFinished(() => sql.end({ timeout: 0 }));
  // The first host rejects the first of them.
  for (let calls = 0; calls < 2; calls++) sql`SELECT 1`.catch(() => {});
  const [client] = (await once(server, 'connection')) as [Socket];
  await once(client, 'data');
  client.write('S');
  const [hello] = (await once(client, 'data')) as [Buffer];
  client.destroy();
  expect(hello.toString('latin1')).toContain('localhost');
});

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { limitedSockets } from '../../../src/cli/dead/limited-sockets.js';

async function listen(): Promise<number> {
  const server = createServer((socket) => void socket.resume().end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('each try connects to the next server of the URL, and its socket has the name of the host', async () => {
  const port = [await listen(), await listen()];
  const connect = limitedSockets(10_000);
  const reached: unknown[] = [];
  for (let tries = 0; tries < 3; tries++) {
    const socket = connect({ host: ['127.0.0.1', 'localhost'], port });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    reached.push([Reflect.get(socket, 'host'), socket.remotePort]);
  }
  const [first, second] = [
    ['127.0.0.1', port[0]],
    ['localhost', port[1]],
  ];
  expect(reached).toEqual([first, second, first]);
});

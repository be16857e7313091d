import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createRestart } from '../../../src/cli/check/restart.js';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
])('--restart finds an endpoint that listens again at %s', async (host, hostname) => {
  const server = createServer();
  await once(server.listen(0, host), 'listening');
  onTestFinished(() => void server.close());
  const at = server.address();
  const port = typeof at === 'object' && at ? at.port : 0;
  await expect(
    createRestart('true', new URL(`http://${hostname}:${port}/`))(),
  ).resolves.toBeUndefined();
});

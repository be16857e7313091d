import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { start } from '../support/start.js';
import { exampleShop, WEBHOOK_SECRET } from './shop.js';

const EXAMPLES = ['express', 'fastify', 'koa', 'hono', 'node', 'nest/express', 'nest/fastify'];

for (const name of EXAMPLES) {
  const args = ['--import', 'tsx', `examples/${name}.ts`];
  const env = {
    PORT: '0',
    WEBHOOK_SECRET,
    ...(name.startsWith('nest/') && { TSX_TSCONFIG_PATH: 'examples/nest/tsconfig.json' }),
  };
  exampleShop(
    name,
    () => start(process.execPath, args, { env }),
    name === 'node' ? { elsewhere: isHealthy } : {},
  );

  test(`${name} ends at a SIGTERM, though a connection is still open`, async () => {
    const server = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      timeout: 15_000,
      killSignal: 'SIGKILL',
    });
    const ended = once(server, 'exit');
    try {
      let written = '';
      let port: string | undefined;
      for await (const piece of server.stdout) {
        written += piece;
        port = /Listening on http:\/\/[\w.]+:(\d+)\/webhooks\n/.exec(written)?.[1];
        if (port) break;
      }
      // Which fetch keeps open.
      await (await fetch(`http://127.0.0.1:${port}/webhooks`)).text();
      server.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      server.kill('SIGKILL');
    }
  });
}

async function isHealthy(origin: string): Promise<void> {
  const response = await fetch(`${origin}/health`);
  expect([response.status, await response.text()]).toEqual([200, 'ok']);
}

describe('types', () => {
  test('of the Nest examples, with the decorators that Nest needs', {
    timeout: 60_000,
  }, async () => {
    await promisify(execFile)('node_modules/.bin/tsc', ['-p', 'examples/nest']);
  });
});

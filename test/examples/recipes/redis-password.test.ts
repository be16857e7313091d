import { spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { compileProgram } from '../../support/program.js';

/** Starts a server that rejects the password of each client, as Redis does, and returns its address. */
async function openStrictRedis(password: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const _ of `${data}`.matchAll(/^\*\d+/gm))
        socket.write('-WRONGPASS invalid username-password pair or user is disabled.\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `redis://default:${password}@127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['examples/recipes/impatient-sender.ts', 'examples/next-queue/worker.ts'])(
  '%s reports that Redis rejects its password, without the password',
  async (file) => {
    const env = {
      ...process.env,
      PORT: '0',
      WEBHOOK_SECRET: 'a secret for tests',
      DATABASE_URL: 'postgres://127.0.0.1:1/shop',
      REDIS_URL: await openStrictRedis('the-password'),
    };
    const child = spawn(process.execPath, [await compileProgram(file, 'build')], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    let written = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => {
        written += piece;
      });
    // Each connection reports it, at each attempt to connect.
    await vi.waitFor(() => expect(written.match(/WRONGPASS/g)?.length).toBeGreaterThan(5), 20_000);
    expect(written).not.toContain('the-password');
  },
);

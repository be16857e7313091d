import { Server } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newFolder } from '../support/folders.js';
import { begin } from './command.js';

test.each([
  ['record', 'http://127.0.0.1:1/webhooks', '--out', newFolder()],
  ['doctor', '--listen'],
])('%s serves this machine only', async (...args) => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const command = begin(args, { env: { WEBHOOK_SECRET: 'a secret for tests' } });
  await command.says(/http:\/\/127\.0\.0\.1:/);
  const servers = listen.mock.contexts.map(
    (server) => server instanceof Server && server.address(),
  );
  expect(servers).toEqual([expect.objectContaining({ address: '127.0.0.1' })]);
  command.interrupt();
  await command.ended;
});

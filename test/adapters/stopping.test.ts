import { once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver } from 'storefront-webhooks';
import { toNodeHandler } from 'storefront-webhooks/node';
import { replay } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { compileProgram } from '../support/program.js';
import { start } from '../support/start.js';
import { SECRET } from './apps/inside/contract.js';

test.each(['node', 'koa'])(
  'a process that exits after close() has sent its answers (%s)',
  async (mounted) => {
    const server = await start(process.execPath, [
      await compileProgram('test/adapters/apps/inside/stopping.ts', 'sources'),
      mounted,
    ]);
    try {
      const answers = Promise.all(
        ['one', 'two', 'three'].map((id) =>
          replay(`${server.origin}/webhooks`, 'order:paid', { secret: SECRET, id }),
        ),
      );
      await vi.waitFor(() => expect(server.output().match(/begun/g)).toHaveLength(3));
      server.terminate();
      expect((await answers).map(({ outcome }) => outcome)).toEqual(Array(3).fill('handled'));
      expect(await server.ended).toBe(0);
    } finally {
      await server.stop();
    }
  },
);

function deferred() {
  let resolve: (value: void | Promise<void>) => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test('close() does not wait for a sender that left before its delivery was handed over', async () => {
  const receiver = createReceiver({ secret: SECRET, hooks: { onRejected() {} } });
  const handler = toNodeHandler(receiver);
  const closed = deferred();
  const server = createServer(async (request, response) => {
    response.destroy();
    await once(response, 'close');
    void handler(request, response);
    closed.resolve(receiver.close({ timeoutMs: 60_000 }));
  });
  await expect(replay(server, 'order:paid', { secret: SECRET })).rejects.toThrow();
  await closed.promise;
});

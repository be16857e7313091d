import { replay } from 'storefront-webhooks/testing';
import { expect, test, vi } from 'vitest';
import { start } from '../support/start.js';
import { SECRET } from './apps/contract.js';

test.each(['node', 'koa'])(
  'a process (%s) that ends after close() has sent its answers',
  async (mounted) => {
    const server = await start(process.execPath, [
      ...['--import', 'tsx'],
      ...['test/adapters/apps/stopping.ts', mounted],
    ]);
    try {
      const answers = Promise.all(
        ['one', 'two', 'three'].map((id) =>
          replay(`${server.origin}/webhooks`, 'order:paid', { secret: SECRET, id }),
        ),
      );
      await vi.waitUntil(() => server.output().split('begun').length === 4, 10_000);
      server.terminate();
      expect((await answers).map(({ outcome }) => outcome)).toEqual(Array(3).fill('handled'));
      expect(await server.ended).toBe(0);
    } finally {
      await server.stop();
    }
  },
);

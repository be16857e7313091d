import { expect, test, vi } from 'vitest';
import { useExample, WAIT } from '../../cloudflare/example.js';
import { withRuntimes } from '../../runtimes/installed.js';

withRuntimes('the example for Cloudflare', () => {
  const { deliver, ask, restock, stockOf, wrangler, out } = useExample();

  test('orders that do not get back into the queue are still shown, and can be redriven', async () => {
    expect(await deliver('no queue', { id: 'ord_6', quantity: 93 })).toBe('200 queued');
    expect(await deliver('nor here', { id: 'ord_8', quantity: 94 })).toBe('200 queued');
    const dead = { state: 'dead', error: expect.stringContaining('pieces >= 0') };
    await vi.waitFor(async () => {
      expect(await ask('/dead')).toMatchObject([dead, dead]);
    }, WAIT);
    expect(await ask('/dead?queue=down', 'POST')).toMatchObject([{ outcome: 'unavailable' }]);
    expect(await ask('/dead')).toMatchObject([dead]);
    await ask('/age', 'POST');
    expect(await ask('/dead')).toMatchObject([dead, { event: 'order:paid', state: 'stalled' }]);

    await restock(200);
    const queued = { outcome: 'queued' };
    expect(await ask('/dead', 'POST')).toMatchObject([queued, queued]);
    await stockOf(13);
    expect(await ask('/dead')).toEqual([]);
  });

  test('an order whose quantity is unreadable moves no stock, and is shown', async () => {
    await restock(92);
    expect(await deliver('odd', { id: 'ord_7', quantity: 'two' })).toBe('200 queued');
    await vi.waitFor(async () => {
      const error = expect.stringContaining('no quantity that is a positive number');
      expect(await ask('/dead')).toEqual([
        { id: 'odd', event: 'order:paid', state: 'dead', error },
      ]);
    }, WAIT);
    await stockOf(92);
  });

  test('wrangler can deploy it with all of its bindings', async () => {
    const output = await wrangler('deploy', 'index.ts', '--dry-run', '--outdir', out());
    for (const binding of ['WEBHOOKS', 'BODIES', 'DELIVERIES', 'DB'])
      expect(output).toContain(`env.${binding}`);
  });
});

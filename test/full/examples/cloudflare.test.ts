import { expect, test, vi } from 'vitest';
import { useExample, WAIT } from '../../cloudflare/example.js';
import { WEBHOOK_SECRET } from '../../examples/shop.js';
import { withRuntimes } from '../../runtimes/installed.js';

withRuntimes('the example for Cloudflare', () => {
  const { deliver, ask, restock, stockOf, output } = useExample();

  test('an order moves the stock once, after any number of retries', async () => {
    const order = { id: 'ord_1', quantity: 2 };
    expect(await deliver('one', order)).toBe('200 queued');
    expect(await deliver('one', order)).toBe('200 queued');
    expect(await deliver('the same order again', order)).toBe('200 queued');
    expect(await deliver('forged', { id: 'ord_2' }, 'another secret')).toBe('401 rejected');
    // Send this delivery last: when it is processed, all earlier ones are, too.
    expect(await deliver('last', { id: 'ord_3', quantity: 1 })).toBe('200 queued');
    await stockOf(7);
    await vi.waitFor(() => expect(output()).toMatch(/Sold order ord_3/), WAIT);
    expect(output().match(/Sold order ord_1/g)).toHaveLength(1);
  });

  test('an order that is too large for a message of the queue is delivered', async () => {
    const email = `${'x'.repeat(500_000)}@example.com`;
    expect(await deliver('large', { id: 'ord_4', quantity: 1, email })).toBe('200 queued');
    await stockOf(6);
  });

  test('an order for more than the stock is shown to authorised users, and can be redriven', async () => {
    expect(await deliver('too many', { id: 'ord_5', quantity: 8 })).toBe('200 queued');
    await vi.waitFor(async () => {
      const error = expect.stringContaining('CHECK constraint failed');
      expect(await ask('/dead')).toEqual([
        { id: 'too many', event: 'order:paid', state: 'dead', error },
      ]);
    }, WAIT);
    await stockOf(6);
    for (const secret of ['', 'undefined', WEBHOOK_SECRET])
      expect(await ask('/dead', 'POST', undefined, secret)).toBe(401);

    await restock(100);
    expect(await ask('/dead', 'POST')).toMatchObject([{ outcome: 'queued' }]);
    await stockOf(92);
    expect(await ask('/dead')).toEqual([]);
  });
});

import { expect, test } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { durableStore } from '../support/durable.js';
import { entry, openShop, recoverFrom } from './provider.js';

test('recovery tries a delivery within a minute, even if its retry is due in an hour', async () => {
  skipWaits();
  const startedAt = performance.now();
  const store = durableStore(({ claim }) => ({
    async claim(...args) {
      const isHeld = performance.now() < startedAt + 15_000;
      return isHeld ? { state: 'busy', retryAfterMs: 3_600_000 } : claim(...args);
    },
  }));
  const { deliveries } = await recoverFrom({ logs: [entry(1)] }, openShop({ store }));
  expect(deliveries).toMatchObject([{ id: 'whl_1', outcome: 'handled' }]);
  expect(performance.now() - startedAt).toBeLessThan(60_000);
});

test('recovery tries a delivery that another process holds when its lease ends', async () => {
  skipWaits();
  // The delivery stays busy for longer than five tries in quick succession take.
  const freeAt = performance.now() + 20_000;
  const store = durableStore(({ claim }) => ({
    async claim(...args) {
      const retryAfterMs = freeAt - performance.now();
      return retryAfterMs > 0 ? { state: 'busy', retryAfterMs } : claim(...args);
    },
  }));
  const shop = openShop({ store });
  const { deliveries, complete } = await recoverFrom({ logs: [entry(1)] }, shop);
  expect(deliveries).toMatchObject([{ id: 'whl_1', outcome: 'handled' }]);
  expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
});

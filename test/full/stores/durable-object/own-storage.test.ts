import { describe, expect, test, vi } from 'vitest';
import { send } from '../../../stores/durable-object/receiver.js';
import { describeStore } from '../../../stores/suite.js';
import { TABLE } from '../../../stores/transactions.js';
import { AGE, withWorker } from '../../../stores/workerd/served.js';
import { paidOrder } from '../../../support/deliver.js';

withWorker('the store in the storage of an object in workerd', (worker) => {
  const shop = () => worker().store({ store: 'storage' });
  const open = async () => {
    const store = shop();
    await store.count({ state: 'dead' });
    await store.sql('DELETE FROM webhook_delivery');
    await store.sql('DROP TABLE IF EXISTS sold');
    await store.sql(TABLE);
    return store;
  };
  describeStore('Durable Object storage', open, { age: () => shop().sql(AGE) });

  describe('a handler in an object', () => {
    const sell = (id: string, { path = '/shop', delivery = 'whl_1' } = {}) =>
      send(worker(), paidOrder({ id }), { path, id: delivery });
    const sold = async () => (await shop().sql('SELECT order_id FROM sold')).length;

    test('sells once for many copies and deliveries of an order', async () => {
      await open();
      const send20 = () =>
        Promise.all(
          Array.from({ length: 20 }, (_, copy) => sell('ord_1', { delivery: `whl_${copy % 4}` })),
        );
      const answers = await send20();
      expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(await send20()).toEqual(Array(20).fill(200));
      expect(await sold()).toBe(1);
    });

    test('that fails leaves nothing but its attempt, and the retry sells', async () => {
      const store = await open();
      expect(await sell('ord_fail')).toBe(500);
      expect(await sold()).toBe(0);
      expect(await store.list({ state: 'failing' })).toMatchObject([
        { attempts: 1, error: expect.stringContaining('it fails once it has sold') },
      ]);
      expect(await sell('ord_fail')).toBe(200);
      expect(await sold()).toBe(1);
    });

    test.each([
      ['with a transaction', '/shop', 'fence = fence - 1000'],
      ['without one', '/shop/plain', 'not_before = not_before - 100000'],
    ])(
      'that ends its object each time is dead after five attempts: %s',
      async (_, path, expire) => {
        const store = await open();
        const sellOnce = () => sell('ord_abort', { path });
        for (let attempt = 1; attempt <= 5; attempt += 1) {
          expect(await sellOnce()).toBeGreaterThanOrEqual(500);
          await store.sql(`UPDATE webhook_delivery SET ${expire}`);
        }
        await vi.waitFor(async () => expect(await sellOnce()).toBe(200), 10_000);
        expect(await store.list({ state: 'dead' })).toMatchObject([{ interrupted: true }]);
        expect(await sold()).toBe(0);
      },
    );
  });

  test('rejects the storage of an object without SQLite', async () => {
    const answer = await fetch(`${worker().origin}/key-value`);
    expect(await answer.text()).toMatch(/this\.ctx\.storage .* "new_sqlite_classes"/);
  });
});

import Database from 'libsql';
import { expect, test, vi } from 'vitest';
import { durableStore } from '../support/durable.js';
import { HOUR, newFile, openSeller, openShop, sqlite } from './seller.js';

test('an answer that the dying store did not record hides no order of the outage that follows', async () => {
  const seller = await openSeller();
  await seller.endpoint();
  const file = newFile();
  let isDown = false;
  const store = durableStore(
    ({ complete }) => ({
      complete: async (...args) => (isDown ? Promise.reject(new Error('down')) : complete(...args)),
    }),
    sqlite(file),
  );
  const before = openShop(seller.secret, { store, isPlain: true });
  seller.answer(before);
  await seller.sell();
  isDown = true;
  await seller.sell();
  expect(before.delivered).toHaveLength(2);
  seller.answer('down');
  const missed = await seller.sell(2);
  await seller.pass(72 * HOUR);
  await before.receiver.close({ timeoutMs: 1 });

  const database = new Database(file);
  // The lease of the second order has ended long ago.
  database.exec("UPDATE webhook_delivery SET not_before = 1 WHERE state = 'leased'");
  database.close();
  const shop = openShop(seller.secret, { store: sqlite(file), isPlain: true });
  const { complete } = await seller.recover(shop);
  expect([complete, shop.delivered]).toEqual([true, missed]);
});

test('recovery ends once the store has the records of all that it has delivered', async () => {
  const seller = await openSeller();
  await seller.endpoint();
  const missed = await seller.sell();
  await seller.pass(72 * HOUR);
  let failures = 4;
  const recorded = vi.fn();
  const store = durableStore(({ complete }) => ({
    complete: async (...args) => {
      if (failures-- > 0) throw new Error('it restarts');
      const isHeld = await complete(...args);
      recorded();
      return isHeld;
    },
  }));
  const shop = openShop(seller.secret, { store, isPlain: true });
  await seller.recover(shop);
  expect([shop.delivered, recorded.mock.calls.length]).toEqual([missed, 1]);
});

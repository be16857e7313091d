import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { durableStore } from '../support/durable.js';
import { entry, openShop, recoverFrom } from './provider.js';

/** Opens a shop whose store fails to claim some deliveries, and notes which deliveries it claims. */
function openFaulty(isDown: (id: string) => boolean) {
  const claimed = new Set<string>();
  const store = durableStore(({ claim }) => ({
    async claim(delivery, lease) {
      claimed.add(delivery.id);
      if (isDown(delivery.id)) throw new Error('down');
      return claim(delivery, lease);
    },
  }));
  return { shop: openShop({ store }), claimed };
}

const logs = Array.from({ length: 6 }, (_, at) => entry(at + 1));

test('no delivery is tried after the store was down for three in a row', async () => {
  skipWaits();
  const { shop, claimed } = openFaulty(() => true);
  const { deliveries } = await recoverFrom({ logs }, shop);
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(Array(6).fill('unavailable'));
  expect([...claimed]).toEqual(['whl_1', 'whl_2', 'whl_3']);
});

test('recovery continues past failed claims while the store still accepts other deliveries', async () => {
  skipWaits();
  const { shop, claimed } = openFaulty((id) => !['whl_2', 'whl_5', 'whl_6'].includes(id));
  const { deliveries } = await recoverFrom({ logs }, shop);
  expect(deliveries.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
    'whl_1 unavailable',
    'whl_2 handled',
    'whl_3 unavailable',
    'whl_4 unavailable',
    'whl_5 handled',
    'whl_6 handled',
  ]);
  expect(claimed.size).toBe(6);
});

test('a store that has failed to say what is done is not asked about the next page of the log', async () => {
  const asked: string[] = [];
  const store = durableStore(() => ({
    async isDone(key) {
      asked.push(key);
      if (asked.length === 1) throw new Error('down');
      await setTimeout(1);
      return false;
    },
  }));
  const two = Array.from({ length: 100 }, (_, at) => entry(at + 1));
  const { deliveries } = await recoverFrom({ logs: two }, openShop({ store }), { apply: false });
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(Array(100).fill('listed'));
  // Each delivery has a key, and another that it would have had without its id.
  expect(asked.length).toBe(2 * 50);
});

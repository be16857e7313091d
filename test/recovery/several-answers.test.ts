import { describe, expect, test } from 'vitest';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  type Entry,
  entry,
  live,
  MINUTE,
  openOncePerOrder,
  openShop,
  type Provided,
  recoverFrom,
} from './provider.js';

const PAGE = { response_code: 200, response: '<h1>Back soon</h1>', response_headers: {} };
const OLD_CODE = { response_code: 200, response: '{"ok":true}', response_headers: {} };
const DOWN = { response_code: 0, response: null, response_headers: {} };

/** An attempt of the delivery whl_1, a number of minutes ago. */
const attempt = (minutes: number, answer: Record<string, unknown> = {}): Entry =>
  entry(1, { updated_at: ago(minutes * MINUTE), ...answer });

const OTHERS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['a maintenance page', PAGE],
  ['the code before the receiver', OLD_CODE],
  ['a proxy that rejects it', { response_code: 502 }],
  ['nothing', DOWN],
];

const orders: Record<string, (entries: Entry[]) => Entry[]> = {
  'newest first': (entries) => entries,
  'oldest first': (entries) => [...entries].reverse(),
};

describe.each(OTHERS)(
  'a delivery that the receiver has handled, and %s answered later',
  (_, other) => {
    test.each([
      ['the last answer', false],
      ['each attempt under the same id', true],
    ])('is not run again if the log has %s', async (_, hasBoth) => {
      for (const inOrder of Object.values(orders)) {
        const shop = openShop();
        const own = await answered(shop, attempt(40));
        const attempts = inOrder([attempt(20, other), ...(hasBoth ? [own] : [])]);
        const logs = [...attempts, await live(shop)];
        for (const apply of [false, true]) {
          const { deliveries, complete } = await recoverFrom({ logs }, shop, { apply });
          expect(deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate']);
          expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
        }
      }
    });

    test('is not delivered again for a manual retry with an id of its own', async () => {
      const shop = openOncePerOrder();
      const own = await answered(shop, attempt(40));
      const logs = [{ ...attempt(20, other), id: 'whl_2' }, own, await live(shop)];
      const { deliveries, complete } = await recoverFrom({ logs }, shop);
      expect(deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate']);
      expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
    });

    test('is left if the store does not know it', async () => {
      const before = openShop();
      const shop = openShop({ store: durableStore() });
      const own = await answered(before, attempt(40));
      const logs = [attempt(20, other), own];
      const { deliveries, complete } = await recoverFrom({ logs }, shop);
      expect(deliveries.map(({ outcome }) => outcome)).toEqual(['earlier']);
      expect([complete, shop.delivered]).toEqual([false, []]);
    });
  },
);

describe('a delivery that a maintenance page answered first runs once', () => {
  test.each(OTHERS.slice(2))('if then %s answered', async (_, other) => {
    for (const inOrder of Object.values(orders))
      for (const id of ['whl_1', 'whl_2']) {
        const shop = openOncePerOrder();
        const attempts = inOrder([{ ...attempt(20, other), id }, attempt(40, PAGE)]);
        const logs = [...attempts, await live(shop)];
        const { deliveries, complete } = await recoverFrom({ logs }, shop);
        expect(deliveries[0]?.outcome).toBe('handled');
        expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
      }
  });

  test('in its retry, which the receiver answered, and not in recovery', async () => {
    for (const inOrder of Object.values(orders)) {
      const shop = openShop();
      const own = await answered(shop, attempt(20));
      const logs = [...inOrder([own, attempt(40, PAGE)]), await live(shop)];
      const { complete } = await recoverFrom({ logs }, shop);
      expect([complete, shop.delivered]).toEqual([true, ['ord_1']]);
    }
  });
});

test('a delivery whose retry arrives while the log is read is no longer listed', async () => {
  // In a store without isDone, only the log shows that the delivery is done.
  const { isDone: _, ...store } = durableStore();
  const shop = openShop({ store });
  const own = await answered(shop, attempt(1));
  const log = await live(shop);
  let pages = 0;
  const provided: Provided = {
    logs: [attempt(20, DOWN), log],
    onRequest(path) {
      if (path === 'GET /webhooks/logs' && ++pages === 2) provided.logs = [own, log];
      return undefined;
    },
  };
  const { deliveries, complete } = await recoverFrom(provided, shop, { apply: false });
  expect([deliveries, complete]).toEqual([[], true]);
});

test('a delivery is not lost behind another one under its id that is done', async () => {
  for (const [inOrder, outcome] of [
    [orders['newest first'], 'gone'],
    [orders['oldest first'], 'handled'],
  ] as const) {
    const shop = openShop();
    const logs = [await answered(shop, attempt(20)), { ...entry(2), id: 'whl_1' }];
    const all = [...(inOrder?.(logs) ?? []), await live(shop)];
    const { deliveries, complete } = await recoverFrom({ logs: all }, shop);
    expect(deliveries).toMatchObject([{ recordId: 'ord_2', outcome }]);
    expect(complete).toBe(outcome === 'handled');
  }
});

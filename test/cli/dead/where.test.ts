import type { StoredDelivery } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { toFilter } from '../../../src/cli/dead/where.js';

const DELIVERY: StoredDelivery = {
  ...{ key: 'a'.repeat(64), scope: '', id: 'whl_1', event: 'order:paid', orderId: 'ord_1' },
  ...{ state: 'dead', attempts: 3, error: 'no stock', interrupted: false, email: undefined },
  ...{ body: new Uint8Array(2), receivedAt: new Date(0), lastTriedAt: undefined, dueAt: undefined },
};

test.each([
  [[], true],
  [['order=ord_1', 'error~stock'], true],
  [['order=ord_2', 'error~stock'], false],
  [['order=ord_1', 'error~network'], false],
  [['event=order:paid', 'order=ord_2', 'attempts=3'], false],
])('a delivery matches only if all conditions do: %j', (conditions, isMatch) => {
  expect(toFilter(conditions)(DELIVERY)).toBe(isMatch);
});

test('a condition matches an error of several lines', () => {
  const filter = toFilter(['error=no stock\nof mugs', 'error~stock\nof']);
  expect(filter({ ...DELIVERY, error: 'no stock\nof mugs' })).toBe(true);
  expect(filter(DELIVERY)).toBe(false);
});

import { expect, test } from 'vitest';
import { ago, answered, DAY, entry, MINUTE, openShop, recoverFrom } from './provider.js';

test.each([
  [
    'is no sign of a lost store if the answer is so young that the store may be recording it',
    MINUTE,
    'handled',
  ],
  ['is a sign that the store was lost', DAY, 'earlier'],
  [
    'is no sign of a lost store if the store has forgotten deliveries of that age',
    9 * DAY,
    'handled',
  ],
])('an answer to a delivery that the store does not know %s', async (_, age, outcome) => {
  // The receiver as it was before the shop lost its store.
  const before = openShop({ keepDays: 7 });
  const at = { created_at: ago(age), updated_at: ago(age) };
  const logs = [entry(1), await answered(before, entry(2, at))];
  const shop = openShop({ keepDays: 7 });
  const { deliveries } = await recoverFrom({ logs }, shop);
  expect(deliveries).toMatchObject([{ id: 'whl_1', outcome }]);
});

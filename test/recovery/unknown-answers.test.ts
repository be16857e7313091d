import type { StoredDelivery } from 'storefront-webhooks';
import { expect, test } from 'vitest';
import { findReceipt } from '../../src/request/receipt.js';
import { durableStore } from '../support/durable.js';
import {
  ago,
  answered,
  DAY,
  type Entry,
  entry,
  HOUR,
  live,
  MINUTE,
  NOW,
  openShop,
  recoverFrom,
} from './provider.js';

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

/** The delivery of an answer, in a store that has it as unfinished, and last tried so long before the answer. */
function unfinished({ id, response }: Entry, ageMs: number): StoredDelivery {
  const { key = '', answeredAt = NOW } = findReceipt(`${response}`) ?? {};
  const lastTriedAt = new Date(answeredAt.getTime() - ageMs);
  return {
    state: 'stalled',
    ...{ key, scope: '', id, event: 'order:paid', body: new Uint8Array(), proof: undefined },
    ...{ receivedAt: lastTriedAt, attempts: 1, error: undefined, interrupted: true },
    ...{ orderId: 'ord_2', email: undefined, lastTriedAt, dueAt: lastTriedAt },
  };
}

test.each([
  ['is no sign of a lost store if the store has tried it for that answer', 2_000, 'handled'],
  ['is a sign of a lost store if a backup has an earlier attempt of it', HOUR, 'earlier'],
])('an answer to a delivery that the store has as unfinished %s', async (_, ageMs, outcome) => {
  const at = { created_at: ago(DAY), updated_at: ago(DAY) };
  const answer = await answered(openShop(), entry(2, at));
  const row = unfinished(answer, ageMs);
  const list = async ({ state }: { state: string }) => (state === row.state ? [row] : []);
  const shop = openShop({ store: durableStore(() => ({ list })) });
  const logs = [entry(1), answer, await live(shop)];
  const { deliveries } = await recoverFrom({ logs }, shop);
  expect(deliveries).toMatchObject([{ id: 'whl_1', outcome }]);
});

test('a store that cannot list its unfinished deliveries counts as lost', async () => {
  const at = { created_at: ago(DAY), updated_at: ago(DAY) };
  const logs = [entry(1), await answered(openShop(), entry(2, at))];
  const list = () => Promise.reject(new Error('no'));
  const shop = openShop({ store: durableStore(() => ({ list })) });
  const { deliveries } = await recoverFrom({ logs }, shop);
  expect(deliveries).toMatchObject([{ id: 'whl_1', outcome: 'earlier' }]);
});

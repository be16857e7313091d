import { expect, test } from 'vitest';
import { toStored } from '../../src/stores/stored.js';

const row = {
  key: 'a'.repeat(64),
  scope: 'shop',
  id: 'whl_1',
  event: 'order:paid',
  body: new Uint8Array(),
  proof: null,
  receivedAt: 1_790_000_000_000,
  attempts: 1,
  error: null,
  fence: 1_790_000_001_000,
  notBefore: 1_790_000_002_000,
  lapsed: false,
};

test('a delivery that was not tried after its redrive has no lastTriedAt', () => {
  expect(toStored(row, 'stalled').lastTriedAt).toEqual(new Date(row.fence));
  expect(toStored({ ...row, attempts: 0 }, 'stalled').lastTriedAt).toBe(undefined);
});

test('a dead delivery has no due time', () => {
  expect(toStored(row, 'failing').dueAt).toEqual(new Date(row.notBefore));
  expect(toStored(row, 'dead').dueAt).toBe(undefined);
});

test('missing times stay undefined', () => {
  const { lastTriedAt, dueAt } = toStored(
    { ...row, fence: undefined, notBefore: undefined },
    'failing',
  );
  expect([lastTriedAt, dueAt]).toEqual([undefined, undefined]);
});

test('a lease that never expires is due at the last date of JavaScript', () => {
  const { dueAt } = toStored({ ...row, notBefore: Number.MAX_SAFE_INTEGER }, 'failing');
  expect(dueAt?.toISOString()).toBe('+275760-09-13T00:00:00.000Z');
});

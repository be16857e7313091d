import { expect, test } from 'vitest';
import { toColumns } from '../../../src/stores/postgres/claims.js';
import { WAIT_MS } from '../../../src/stores/postgres/sessions.js';

test('a delivery that waits for a connection is leased no longer than the longest wait', () => {
  const delivery = {
    key: 'a',
    scope: '',
    id: 'whl_1',
    event: 'order:paid',
    receivedAt: 0,
    body: undefined,
  };
  const lease = { owner: 'me', keepMs: 1, maxCrashes: 1, isTransaction: true };
  const leaseOf = (leaseMs: number, waits: boolean) =>
    toColumns({ delivery, lease: { ...lease, leaseMs }, waits }).lease;
  expect(leaseOf(10 * WAIT_MS, true)).toBe(`${WAIT_MS}`);
  expect(leaseOf(1_000, true)).toBe('1000');
  expect(leaseOf(10 * WAIT_MS, false)).toBe(`${10 * WAIT_MS}`);
});

import { postgresLedger, postgresSchema, postgresStore } from 'storefront-webhooks/postgres';
import { describe, expect, test } from 'vitest';
import { openPglite } from '../../support/pglite.js';
import { acquire, KEEP_MS, LONG_AGO_MS, newDelivery } from './claiming.js';

/** The columns that are read. */
async function use(store: ReturnType<typeof postgresStore>) {
  const delivery = { ...newDelivery(), proof: 'the proof' };
  const { fence } = await acquire(store, delivery, { leaseMs: LONG_AGO_MS });
  expect(await store.completeStep(delivery.key, fence, 'mail', { sent: [1] })).toBe(true);
  const [stalled] = await store.list({ state: 'stalled', limit: 1 });
  expect({ ...stalled, body: Buffer.from(stalled?.body ?? []).toString() }).toEqual({
    ...delivery,
    receivedAt: new Date(delivery.receivedAt),
    body: '{"id":"ord_1"}',
    state: 'stalled',
    attempts: 1,
    error: undefined,
    interrupted: true,
    orderId: 'ord_1',
    email: undefined,
    lastTriedAt: new Date(fence),
    dueAt: expect.any(Date),
  });
  const next = await acquire(store, delivery);
  expect(next).toEqual({
    state: 'acquired',
    fence: expect.any(Number),
    attempt: 2,
    steps: { mail: { sent: [1] } },
  });
  expect(next.fence).toBeGreaterThan(fence);
  expect(await store.complete(delivery.key, next.fence, KEEP_MS)).toBe(true);
  expect(await store.complete(delivery.key, fence, KEEP_MS)).toBe(false);
  expect(await store.purge(10)).toBe(0);
}

describe('a client', () => {
  test('may be a PGlite or its transaction', async () => {
    const database = await openPglite();
    await use(postgresStore(database));
    await database.transaction((tx) => use(postgresStore(tx)));
  });

  test.each([
    ['nothing', undefined],
    ['a URL', 'postgres://localhost'],
    ['another object', { execute() {} }],
    ['a null', null],
  ])('is rejected if it is %s', (_, client) => {
    const expected = expect.objectContaining({
      name: 'UsageError',
      code: 'client_invalid',
      message: expect.stringContaining('Pool'),
    });
    // @ts-expect-error: none of them is a client.
    expect(() => postgresStore(client)).toThrow(expected);
    // @ts-expect-error: as above
    expect(() => postgresLedger(client)).toThrow(expected);
  });

  test('is rejected at its first answer if it does not return rows', async () => {
    const store = postgresStore({ query: async () => ({ rows: JSON.parse('null') }) });
    await expect(store.redrive(newDelivery().key)).rejects.toMatchObject({
      code: 'client_invalid',
    });
  });

  test('gets SQL with the names of the tables', () => {
    expect(postgresSchema()).toMatch(/^CREATE TABLE IF NOT EXISTS webhook_delivery/);
  });
});

import {
  createReceiver,
  type KeyFunction,
  memoryStore,
  type ReceiverOptions,
  type SealedDelivery,
} from 'storefront-webhooks';
import { expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

function shop(keyBy: KeyFunction, onError = vi.fn()) {
  const store = memoryStore();
  const receiver = createReceiver({ secret: SECRET, keyBy, store, hooks: { onError } });
  return { onError, store, receiver: receiver.on('*', () => {}) };
}

test('a keyBy function recognises a retry with another body and any id', async () => {
  const { receiver } = shop(({ id, status }) => `${id}:${status}`);
  const sent = paidOrder({ updated_at: 1_790_000_000, attempts: [] });
  expect(await deliver(receiver, sent)).toMatchObject({ outcome: 'handled' });
  const again = { ...sent, updated_at: 1_790_000_060, attempts: [{ status: 500 }] };
  expect(await deliver(receiver, again, { id: 'whl_2' })).toMatchObject({ outcome: 'duplicate' });
  const refunded = { ...sent, status: 56 };
  expect(await deliver(receiver, refunded, { event: 'order:updated' })).toMatchObject({
    outcome: 'handled',
  });
});

test('another event has another key, so that it does not use up the handlers of the first', async () => {
  const { receiver } = shop(({ id }) => `${id}`);
  expect(await deliver(receiver, paidOrder(), { event: 'order:created' })).toMatchObject({
    outcome: 'handled',
  });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
});

test("without a result of keyBy, or without an object as payload, the key is the delivery's", async () => {
  const keyBy = vi.fn(() => undefined);
  const { receiver } = shop(keyBy);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
  expect(await deliver(receiver, paidOrder(), { id: 'whl_2' })).toMatchObject({
    outcome: 'handled',
  });
  keyBy.mockClear();
  expect(await deliver(receiver, [1], { event: 'shop:opened' })).toMatchObject({
    outcome: 'ignored',
  });
  expect(keyBy).not.toHaveBeenCalled();
});

test.each<[string, () => unknown]>([
  ['an empty text', () => ''],
  ['a number', () => 7],
  ['a template without its field', () => `${undefined}:100`],
  ['an object in a template', () => `${{}}`],
  ['a promise that rejects', () => Promise.reject(new Error('buyer@example.com'))],
])('a keyBy function that returns %s is reported, and the delivery is retried', async (_, give) => {
  // A JavaScript program can return anything.
  const { receiver, onError } = shop(() => give() as never);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 500 });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'key_invalid' });
});

test.each<[string, Partial<ReceiverOptions>]>([
  [
    'whose key cannot be made',
    {
      keyBy() {
        throw new Error('no key today');
      },
    },
  ],
  ['whose key is not usable', { keyBy: () => 'undefined:1' }],
  ['whose secret is empty', { secret: () => ({ secret: '', scope: '' }) }],
  ['whose secret has no scope', { secret: () => ({ secret: SECRET }) as never }],
  ['that is unwrapped to nothing', { unwrap: () => ({}) as never }],
])('a queued delivery %s is parked at the last attempt', async (_, options) => {
  const store = durableStore();
  const enqueue = vi.fn(async (_: SealedDelivery) => ({ id: '1' }));
  const queue = { durable: true, enqueue } as const;
  const sender = createReceiver({ secret: SECRET, store, queue });
  await deliver(sender, paidOrder());
  const worker = createReceiver({ secret: SECRET, store, ...options, hooks: { onError() {} } });
  worker.on('*', () => {});
  const [delivery] = enqueue.mock.calls[0] ?? [];
  if (!delivery) throw new Error('nothing is queued');
  await expect(worker.dispatch(delivery)).rejects.toThrow();
  expect(await worker.dispatch(delivery, { lastAttempt: true })).toMatchObject({
    outcome: 'parked',
  });
  expect(await store.count({ state: 'dead' })).toBe(1);
});

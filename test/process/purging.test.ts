import type { IdempotencyStore } from 'storefront-webhooks';
import { createReceiver, memoryStore } from 'storefront-webhooks';
import { afterEach, expect, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { gate } from '../support/gate.js';

afterEach(() => {
  vi.useRealTimers();
});

function shop(purge: IdempotencyStore['purge'], handler: () => unknown = () => {}) {
  const onError = vi.fn();
  const store = durableStore(() => ({ purge }));
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError } });
  receiver.on('order:paid', handler);
  let count = 0;
  const next = () => deliver(receiver, paidOrder(), { id: `whl_${count++}` });
  return { onError, receiver, next };
}

/** Lets background work continue. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a store is purged in the background once a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const purge = vi.fn(async () => 0);
  const { next } = shop(purge);
  for (let delivery = 0; delivery < 5; delivery++) await next();
  await settle();
  expect(purge).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(59_000);
  await next();
  expect(purge).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(2_000);
  await next();
  await settle();
  expect(purge).toHaveBeenCalledTimes(2);
});

test('a backlog is purged with every delivery until it is gone', async () => {
  const left = [500, 500, 20];
  const purge = vi.fn(async () => left.shift() ?? 0);
  const { next } = shop(purge);
  for (let delivery = 0; delivery < 6; delivery++) {
    await next();
    await settle();
  }
  expect(purge).toHaveBeenCalledTimes(3);
  expect(purge).toHaveBeenCalledWith(500);
});

test('only one purge runs at a time, and no delivery waits for it', async () => {
  const purge = vi.fn(() => new Promise<number>(() => {}));
  const { next } = shop(purge);
  for (let delivery = 0; delivery < 3; delivery++) {
    expect(await next()).toMatchObject({ outcome: 'handled' });
  }
  expect(purge).toHaveBeenCalledOnce();
});

test('a purge that fails is reported, and deliveries are handled', async () => {
  const { next, onError } = shop(() => Promise.reject(new Error('permission denied')));
  expect(await next()).toMatchObject({ outcome: 'handled' });
  await settle();
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      code: 'store_unavailable',
      cause: expect.objectContaining({ message: 'permission denied' }),
    }),
    {},
  );
});

test('close waits for a purge, so that the database can be closed afterwards', async () => {
  let finish: (count: number) => void = () => {};
  const { next, receiver } = shop(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  await next();
  const closed = vi.fn();
  const closing = receiver.close().then(closed);
  await settle();
  expect(closed).not.toHaveBeenCalled();
  finish(1);
  await closing;
});

test('no purge begins while the receiver closes', async () => {
  const purge = vi.fn(async () => 0);
  const { open, opened } = gate();
  const { receiver, next } = shop(purge, () => opened);
  const delivering = next();
  await settle();
  const closing = receiver.close();
  open();
  expect(await delivering).toMatchObject({ outcome: 'handled' });
  await closing;
  expect(purge).not.toHaveBeenCalled();
});

test('a store that does not outlive the process is purged, too', async () => {
  const purge = vi.fn(async () => 0);
  const store = forward(memoryStore(), { purge });
  const receiver = createReceiver({ secret: SECRET, store }).on('order:paid', () => {});
  await deliver(receiver, paidOrder());
  await settle();
  expect(purge).toHaveBeenCalledOnce();
});

import { createReceiver, type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { forward } from '../../src/stores/contract.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';

const hooks = { onError() {}, onRejected() {} };

/** Lets time pass only if the test advances it, or has a handler hold the process up. */
function useFakeClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const clock = performance.now.bind(performance);
  let heldUpMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + heldUpMs);
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return {
    /** No timer fires meanwhile, so that no lease is renewed. */
    holdUp(ms: number) {
      heldUpMs += ms;
    },
  };
}

/** A store that grants the leases of records late, all at the same time. */
function slowForRecords(ms: number): IdempotencyStore {
  const real = memoryStore();
  const slow = new Promise((resolve) => setTimeout(resolve, ms));
  return forward(real, {
    async claim(delivery, lease) {
      if (delivery.body === undefined) await slow;
      return real.claim(delivery, lease);
    },
  });
}

test("a handler does not run if the lease of its record has expired, even if its delivery's lease has not", async () => {
  const { holdUp } = useFakeClock();
  // Until then, the lease of the delivery is renewed once. The leases of the records are as old as their claims.
  const store = slowForRecords(4_900);
  const first = vi.fn(() => holdUp(6_000));
  const last = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, hooks })
    .on('order:*', first, { name: 'first', skipOlder: true })
    .on('order:*', last, { name: 'last', skipOlder: true });
  const answer = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(4_900);
  expect(await answer).toMatchObject({ status: 503, outcome: 'busy' });
  expect(last).not.toHaveBeenCalled();
  expect(await deliver(receiver, paidOrder())).toMatchObject({ ran: ['last'] });
  expect(first).toHaveBeenCalledOnce();
});

test('a handler does not run if its delivery has timed out before the store grants its record', async () => {
  useFakeClock();
  const store = slowForRecords(2_000);
  const save = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, hooks, timeout: 1_000 });
  receiver.on('order:*', save, { skipOlder: true });
  const answer = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(2_500);
  expect(await answer).toMatchObject({ status: 500, outcome: 'failed' });
  expect(save).not.toHaveBeenCalled();
});

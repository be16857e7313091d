import {
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  type Receiver,
} from 'storefront-webhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { gate } from '../support/gate.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const LEASE_MS = 10_000;
const lost = async () => {
  throw new Error('the answer is lost');
};

/** Executes the call and loses the answer. */
const unheard =
  <Args extends unknown[]>(verb: (...args: Args) => Promise<unknown>) =>
  async (...args: Args) => {
    await verb(...args);
    return lost();
  };

const isEffect = (subject: { body: unknown }) => subject.body === undefined;

/** Stores that can only be reached in part, by the missing part. */
const FAULTS: Record<string, (store: IdempotencyStore) => Partial<IdempotencyStore>> = {
  'no answer to a claim': (store) => ({ claim: unheard(store.claim.bind(store)) }),
  'no answer except to the claim of the delivery': (store) => ({
    claim: async (...args) => {
      if (isEffect(args[0])) await lost();
      return store.claim(...args);
    },
    complete: lost,
    fail: lost,
    release: lost,
  }),
  'no answer to a claim of an effect': (store) => ({
    claim: async (...args) => {
      const claim = await store.claim(...args);
      return isEffect(args[0]) ? lost() : claim;
    },
    complete: lost,
    fail: lost,
    release: lost,
  }),
};

test.each(Object.keys(FAULTS))(
  'a store that gives %s parks no delivery whose handlers never ran',
  async (name) => {
    const base = memoryStore();
    const handler = vi.fn();
    const shop = (store: IdempotencyStore) =>
      createReceiver({ secret: SECRET, store, hooks: { onError() {} } }).on('order:paid', handler, {
        name: 'deliver',
        oncePer: (order) => order.id,
      });
    const send = async (receiver: Receiver) => {
      const reply = deliver(receiver, paidOrder());
      await vi.advanceTimersByTimeAsync(LEASE_MS + 500);
      return (await reply).outcome;
    };
    const ill = shop(durableStore(() => FAULTS[name]?.(base) ?? {}, base));
    for (let time = 0; time < 7; time++) expect(await send(ill)).not.toBe('parked');
    expect(handler).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(await send(shop(durableStore(() => ({}), base)))).toBe('handled');
    expect(handler).toHaveBeenCalledOnce();
  },
);

test('a start that cannot be recorded does not prevent the handlers from running', async () => {
  const base = memoryStore();
  const store = durableStore(() => ({ renew: unheard(base.renew.bind(base)) }), base);
  const handler = vi.fn();
  handler.mockRejectedValueOnce(new Error('not yet'));
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError() {} } }).on(
    'order:paid',
    handler,
  );
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
  const second = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(500);
  expect(await second).toMatchObject({ outcome: 'handled' });
  expect(handler).toHaveBeenCalledTimes(2);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
});

test.each([
  ['once, so that its sender gets an answer, if it takes long to fail', 2_000, 1],
  ['three times if it fails at once', 0, 3],
])('a store is asked for a claim %s', async (_, ms, calls) => {
  const claim = vi.fn<IdempotencyStore['claim']>(async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return lost();
  });
  const hooks = { onError() {} };
  const receiver = createReceiver({
    secret: SECRET,
    store: durableStore(() => ({ claim })),
    hooks,
  });
  const answer = deliver(
    receiver.on('order:paid', () => {}),
    paidOrder(),
  );
  await vi.advanceTimersByTimeAsync(ms + 500);
  expect(claim).toHaveBeenCalledTimes(calls);
  expect(await answer).toMatchObject({ status: 503, outcome: 'unavailable' });
});

test('a delivery that another process takes over is busy, and names the handlers that had ended', async () => {
  const onError = vi.fn();
  const store = durableStore(() => ({ completeStep: async () => false }));
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError } });
  for (const name of ['mail', 'book', 'stock']) receiver.on('order:paid', () => {}, { name });
  const reply = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(await reply).toMatchObject({ status: 503, outcome: 'busy' });
  const lost = expect.objectContaining({ code: 'lease_lost' });
  // A rejection that nothing handles fails the whole run.
  for (const handler of ['mail', 'book', 'stock'])
    expect(onError).toHaveBeenCalledWith(lost, expect.objectContaining({ handler }));
});

test('a retry does not repeat a handler that was running while the process stood still', async () => {
  const { open, opened } = gate();
  const handler = vi.fn(() => opened);
  const receiver = createReceiver({ secret: SECRET, hooks: { onError() {} } });
  receiver.on('order:paid', handler);
  const first = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(100);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + LEASE_MS + 1_000);
  const retry = deliver(receiver, paidOrder());
  // The lease is to be renewed after a third of its time.
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
  open();
  await vi.advanceTimersByTimeAsync(100);
  expect([(await first).outcome, (await retry).outcome]).toEqual(['handled', 'duplicate']);
  expect(handler).toHaveBeenCalledOnce();
});

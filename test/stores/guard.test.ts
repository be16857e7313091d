import { createReceiver, type IdempotencyStore, memoryStore } from 'storefront-webhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { guardStore } from '../../src/stores/guard.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { ageClock, describeStore } from './suite.js';

describeStore('the guard', () => guardStore(memoryStore()), { age: ageClock });

type Verb = 'claim' | 'complete';

/** A memory store with one faulty verb, as a custom store may have. */
function storeWith(verb: Verb, misbehave: (...args: never[]) => unknown): IdempotencyStore {
  return Object.assign(memoryStore(), { [verb]: misbehave });
}

function shop(store: IdempotencyStore, oncePer: boolean) {
  const ship = vi.fn();
  const onError = vi.fn();
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onError } });
  receiver.on(
    'order:paid',
    ship,
    oncePer ? { name: 'order:paid', oncePer: (order) => order.id } : {},
  );
  return { ship, onError, receiver };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Returns the reply to an order, without waiting for the receiver's pauses. */
async function replyOf(receiver: Parameters<typeof deliver>[0]) {
  vi.useFakeTimers();
  const reply = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(10_000);
  return reply;
}

const throwAtOnce = () => {
  throw new Error('SQLITE_BUSY');
};

describe.each([[false], [true]])('a faulty store (oncePer: %s)', (oncePer) => {
  test.each([
    ['throws synchronously', throwAtOnce],
    ['returns a plain value', () => true],
    ['gives nothing', () => undefined],
    ['returns an unknown state', async () => ({ state: 'unknown' })],
    ['returns no progress', async () => ({ state: 'acquired', fence: 1, attempt: 1, steps: null })],
    ['returns no fence', async () => ({ state: 'acquired', attempt: 1, steps: {} })],
  ])('that %s for a claim leads to a reported error, and no handler runs', async (_, claim) => {
    const { receiver, ship, onError } = shop(storeWith('claim', claim), oncePer);
    expect(await replyOf(receiver)).toMatchObject({ outcome: 'unavailable' });
    expect(ship).not.toHaveBeenCalled();
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'store_unavailable' });
  });

  test('that throws synchronously for complete leads to the answer handled', async () => {
    const { receiver, ship, onError } = shop(storeWith('complete', throwAtOnce), oncePer);
    expect(await replyOf(receiver)).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledOnce();
    const closed = receiver.close({ timeoutMs: 0 });
    await vi.advanceTimersByTimeAsync(20_000);
    await closed;
    const told = expect.objectContaining({ code: 'outcome_unrecorded' });
    expect(onError).toHaveBeenCalledWith(told, expect.anything());
  });

  test('that completes without a promise works', async () => {
    const store = memoryStore();
    const complete = store.complete.bind(store);
    const { receiver } = shop(
      Object.assign(store, {
        complete: (...args: Parameters<IdempotencyStore['complete']>) => {
          void complete(...args);
          return true;
        },
      }) as unknown as IdempotencyStore,
      oncePer,
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
  });

  test('that hangs after the handlers does not delay the answer for long, and the error is reported', async () => {
    vi.useFakeTimers();
    const { receiver, onError } = shop(
      storeWith('complete', () => new Promise(() => {})),
      false,
    );
    const reply = deliver(receiver, paidOrder());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await reply).toMatchObject({ outcome: 'handled' });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'outcome_unrecorded' });
  });

  test('that hangs does not delay the answer for long', async () => {
    vi.useFakeTimers();
    const { receiver } = shop(
      storeWith('claim', () => new Promise(() => {})),
      oncePer,
    );
    const first = deliver(receiver, paidOrder());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toMatchObject({ status: 503, outcome: 'unavailable' });
  });
});

test('a store that fails to claim an effect is reported, and answered with unavailable', async () => {
  const store = memoryStore();
  const claim = store.claim.bind(store);
  Object.assign(store, {
    claim: (...args: Parameters<IdempotencyStore['claim']>) =>
      args[0].body ? claim(...args) : Promise.reject(new Error('connection refused')),
  });
  const { receiver, ship, onError } = shop(store, true);
  expect(await replyOf(receiver)).toMatchObject({
    status: 503,
    outcome: 'unavailable',
  });
  expect(ship).not.toHaveBeenCalled();
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: 'store_unavailable' }),
    { id: 'whl_1', event: 'order:paid', scope: '', handler: 'order:paid', attempt: 1 },
  );
});

/** The claims of a store, whose answers wait for `answer()`. */
function heldClaims(store: IdempotencyStore) {
  let answer: () => void = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const claim: IdempotencyStore['claim'] = async (...args) => {
    const granted = await store.claim(...args);
    await isAnswered;
    return granted;
  };
  return { claim, answer: () => answer() };
}

test('a lease that arrives too late is released, so that it does not count as a crash', async () => {
  const memory = memoryStore();
  const { claim, answer } = heldClaims(memory);
  const { receiver, ship } = shop(
    durableStore(() => ({ claim }), memory),
    false,
  );
  expect(await replyOf(receiver)).toMatchObject({ outcome: 'unavailable' });
  answer();
  await vi.advanceTimersByTimeAsync(0);
  // The attempt is the first one: the key of a delivery is the same in every receiver.
  const other = shop(memory, false);
  let attempt = 0;
  other.receiver.on('order:*', (event) => {
    attempt = event.attempt;
  });
  expect(await deliver(other.receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
  expect(attempt).toBe(1);
  expect(ship).not.toHaveBeenCalled();
});

test('a lease that arrives too late and cannot be released does not end the process', async () => {
  const memory = memoryStore();
  const { claim, answer } = heldClaims(memory);
  let releases = 0;
  // No mock function, which would handle the rejection.
  const release = async () => {
    releases += 1;
    throw new Error('connection lost');
  };
  const { receiver } = shop(
    durableStore(() => ({ claim, release }), memory),
    false,
  );
  await replyOf(receiver);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  // A rejection that nothing handles fails the whole run.
  expect(releases).toBe(1);
});

test('a reported error does not contain the data that its driver attaches', async () => {
  const failure = Object.assign(new Error('connection lost'), {
    code: 'ECONNRESET',
    command: { name: 'evalsha', args: [JSON.stringify(paidOrder())] },
    detail: 'Failing row contains (buyer@example.com)',
  });
  const { receiver, onError } = shop(
    storeWith('claim', () => Promise.reject(failure)),
    false,
  );
  await replyOf(receiver);
  const { cause } = onError.mock.calls[0]?.[0] ?? {};
  expect(cause).toMatchObject({ message: 'connection lost', code: 'ECONNRESET' });
  expect(JSON.stringify({ ...cause, ...onError.mock.calls[0]?.[0] })).not.toContain('buyer@');
  expect(Object.keys(cause)).not.toContain('command');
});

test('a call to a store that fails slowly is not retried while the sender waits', async () => {
  vi.useFakeTimers();
  const claim = vi.fn(
    () =>
      new Promise((_, reject) => {
        setTimeout(() => reject(new Error('connect timed out')), 8_000);
      }),
  );
  const { receiver } = shop(storeWith('claim', claim), false);
  const reply = deliver(receiver, paidOrder());
  await vi.advanceTimersByTimeAsync(8_000);
  expect(await reply).toMatchObject({ outcome: 'unavailable' });
  expect(claim).toHaveBeenCalledOnce();
});

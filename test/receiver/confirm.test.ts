import {
  type Confirm,
  type Confirmation,
  createReceiver,
  type IdempotencyStore,
  memoryStore,
  type PaidOptions,
  type ReceiverOptions,
  runJob,
  type SealedDelivery,
  toJob,
  type WebhookEvent,
} from 'storefront-webhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const AGREED: Confirmation = { state: 'agreed', kept: false };
const DISAGREED: Confirmation = {
  state: 'disagreed',
  issues: [{ path: 'value', message: 'differs from the order' }],
};
const DOWN: Confirmation = { state: 'unavailable', cause: new Error('down'), accepts: false };

/** A shop that delivers confirmed orders, with its reports. */
function shop(found: Confirmation, options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const confirm = vi.fn<Confirm>(async () => found);
  const ship = vi.fn();
  const onError = vi.fn();
  const hooks = { onError, onRejected() {} };
  const receiver = createReceiver({ secret: SECRET, confirm, hooks, ...options });
  return { confirm, ship, onError, receiver: receiver.on('order:paid', ship) };
}

/** A shop that delivers each paid order once, and whose orders disagree with their deliveries. */
function shopOnce(store: IdempotencyStore, options?: PaidOptions) {
  const confirm = vi.fn<Confirm>(async () => DISAGREED);
  const handle = vi.fn();
  const hooks = { onError() {}, onRejected() {} };
  const receiver = createReceiver({ secret: SECRET, scope: 'shop', confirm, hooks, store });
  return { confirm, handle, receiver: receiver.onPaid(handle, options) };
}

describe('confirm is not called', () => {
  test('for an event without a handler, a record that is not an order, or an invalid payload', async () => {
    const { confirm, receiver } = shop(DISAGREED);
    receiver.on('query:*', () => {}).onInvalid(() => {});
    const outcomes = [
      await deliver(receiver, paidOrder(), { event: 'order:created' }),
      await deliver(receiver, { id: 'qry_1' }, { event: 'query:created' }),
      await deliver(receiver, paidOrder({ status: 0 })),
    ].map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['ignored', 'handled', 'parked']);
    expect(confirm).not.toHaveBeenCalled();
  });

  test('for a duplicate or an unsigned request', async () => {
    const { confirm, receiver } = shop(AGREED);
    await deliver(receiver, paidOrder());
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    await deliver(receiver, paidOrder(), { secret: 'another secret', id: 'forged' });
    expect(confirm).toHaveBeenCalledOnce();
  });

  test('in the web process if a queue is used, but in its worker', async () => {
    const jobs: unknown[] = [];
    const enqueue = async (delivery: SealedDelivery) => {
      jobs.push(toJob(delivery));
      return { id: delivery.id };
    };
    const { confirm, receiver } = shop(AGREED, { queue: { durable: true, enqueue } });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'queued' });
    expect(confirm).not.toHaveBeenCalled();
    expect(await runJob(receiver, jobs[0], { isLast: false })).toMatchObject({ state: 'done' });
    expect(confirm).toHaveBeenCalledOnce();
  });
});

test('confirm gets the order as its handlers get it, for any event that begins with order:', async () => {
  const { confirm, receiver } = shop(AGREED, { scope: 'shop', paidStatuses: [100, 54] });
  receiver.onUnknown(() => {});
  await deliver(receiver, paidOrder());
  await deliver(receiver, { id: 'ord_2' }, { event: 'order:shipped' });
  expect(confirm.mock.calls).toMatchObject([
    [
      {
        event: 'order:paid',
        scope: 'shop',
        paidStatuses: [100, 54],
        payload: { id: 'ord_1', status: 100, email: 'buyer@example.com' },
      },
    ],
    [{ event: 'order:shipped', payload: { id: 'ord_2' } }],
  ]);
});

describe('a delivery that contradicts its order', () => {
  test('is rejected, and does not use up its key', async () => {
    const store = durableStore();
    const { confirm, receiver, ship } = shop(DISAGREED, { store });
    const reply = await deliver(receiver, paidOrder());
    expect(reply).toMatchObject({ status: 422, outcome: 'rejected' });
    expect(JSON.parse(reply.body).errors).toEqual(['value is not as expected']);
    for (const state of ['dead', 'stalled', 'failing'] as const)
      expect(await store.count({ state })).toBe(0);
    confirm.mockResolvedValue(AGREED);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(ship.mock.calls[0]?.[0]).toMatchObject({ attempt: 1 });
  });

  test('is rejected for each of its simultaneous copies', async () => {
    const { confirm, receiver } = shop(DISAGREED);
    // A copy may wait for the next turn of the event loop, and would call confirm again after the first answer.
    confirm.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return DISAGREED;
    });
    const copies = [1, 2, 3].map(() => deliver(receiver, paidOrder()));
    expect(await Promise.all(copies)).toMatchObject([
      { status: 422 },
      { status: 422 },
      { status: 422 },
    ]);
    expect(confirm).toHaveBeenCalledOnce();
  });

  test('goes to onInvalid, and to its handlers when the order agrees later', async () => {
    const onInvalid = vi.fn((_: WebhookEvent<string, unknown>) => {});
    const onOutcome = vi.fn();
    const { confirm, receiver, ship } = shop(DISAGREED, { hooks: { onOutcome } });
    receiver.onInvalid(onInvalid);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 200, outcome: 'parked' });
    expect(onOutcome.mock.calls).toMatchObject([
      [{ outcome: 'parked', issues: [{ path: 'value' }] }],
    ]);
    expect(onInvalid.mock.calls[0]?.[0]).toMatchObject({
      event: 'order:paid',
      issues: [{ path: 'value' }],
      payload: { id: 'ord_1' },
    });
    expect(ship).not.toHaveBeenCalled();
    confirm.mockResolvedValue(AGREED);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(onInvalid).toHaveBeenCalledOnce();
  });

  test('is parked at once by the worker of a queue, and can be redriven', async () => {
    const store = durableStore();
    const jobs: unknown[] = [];
    const enqueue = async (delivery: SealedDelivery) => {
      jobs.push(toJob(delivery));
      return { id: delivery.id };
    };
    await deliver(shop(AGREED, { store, queue: { durable: true, enqueue } }).receiver, paidOrder());
    const onOutcome = vi.fn();
    const hooks = { onError() {}, onRejected() {}, onOutcome };
    const { confirm, receiver, ship } = shop(DISAGREED, { store, hooks });
    const parked = { state: 'done', outcome: 'parked' };
    expect(await runJob(receiver, jobs[0], { isLast: false })).toMatchObject(parked);
    const issues = DISAGREED.state === 'disagreed' && DISAGREED.issues;
    expect(onOutcome.mock.calls).toMatchObject([[{ outcome: 'parked', issues }]]);
    const listed = await store.list({ state: 'dead' });
    expect(listed).toMatchObject([{ orderId: 'ord_1' }]);
    const [dead] = listed;
    if (!dead) throw new Error('nothing is dead');
    expect(await receiver.redrive(dead)).toMatchObject({ outcome: 'parked' });
    confirm.mockResolvedValue(AGREED);
    expect(await receiver.redrive(dead)).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledOnce();
  });
});

describe('if confirm fails', () => {
  test('the answer is 503, onError gets the error, and the retry is handled', async () => {
    const store = durableStore();
    const { confirm, receiver, ship, onError } = shop(DOWN, { store });
    for (let attempt = 0; attempt < 8; attempt++)
      expect(await deliver(receiver, paidOrder())).toMatchObject({
        status: 503,
        outcome: 'unavailable',
      });
    expect(onError).toHaveBeenCalledTimes(8);
    expect(onError.mock.calls[0]).toMatchObject([
      { code: 'confirmation_unavailable', cause: { message: 'down' } },
      { id: 'whl_1', event: 'order:paid' },
    ]);
    confirm.mockResolvedValue(AGREED);
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledOnce();
  });

  test('the answer is 503 before a sender gives up, even if confirm never answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { confirm, ship, receiver } = shop(AGREED);
    confirm.mockReturnValue(new Promise(() => {}));
    const delivering = deliver(receiver, paidOrder());
    await vi.advanceTimersByTimeAsync(7_500);
    await expect(Promise.race([delivering, 'none yet'])).resolves.toMatchObject({
      status: 503,
      outcome: 'unavailable',
    });
    expect(ship).not.toHaveBeenCalled();
  });

  test('a job of a queue waits, even in its last attempt', async () => {
    const { receiver } = shop(DOWN, { store: durableStore() });
    const delivery = await receiver.verify(await captured(paidOrder()));
    if (delivery.outcome === 'rejected') throw new Error('it was refused');
    const result = await receiver.dispatch(delivery, { lastAttempt: true });
    expect(result).toMatchObject({ outcome: 'unavailable' });
  });

  test.each<[string, Confirm]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    // A JavaScript program can return anything.
    ['returns nothing', async () => undefined as never],
    ['returns an invalid result', async () => ({ state: 'fine' }) as never],
  ])('because it %s, no handler runs', async (_, confirm) => {
    const { receiver, ship, onError } = shop(AGREED, { confirm });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 503 });
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'confirmation_unavailable' });
    expect(ship).not.toHaveBeenCalled();
  });

  test('with whenDown: accept, the handlers run', async () => {
    const { receiver, ship, onError } = shop({ ...DOWN, accepts: true });
    for (const id of ['one', 'two']) await deliver(receiver, paidOrder(), { id });
    expect(ship).toHaveBeenCalledTimes(2);
    expect(onError).toHaveBeenCalledOnce();
  });
});

test('confirm is not called again if all handlers had finished and only the record was missing', async () => {
  const store = memoryStore();
  const { confirm, receiver } = shop(AGREED, { store });
  receiver.on('order:*', () => {
    throw new Error('no');
  });
  await deliver(receiver, paidOrder());
  const { receiver: without, confirm: asked } = shop(AGREED, { store });
  expect(await deliver(without, paidOrder())).toMatchObject({ outcome: 'duplicate' });
  expect(confirm).toHaveBeenCalledOnce();
  expect(asked).not.toHaveBeenCalled();
});

test('a retry confirms the order again, and the handler that is left runs only if the order agrees', async () => {
  const { confirm, receiver, ship } = shop(AGREED, { store: durableStore() });
  const mail = vi.fn();
  mail.mockRejectedValueOnce(new Error('no mail today'));
  receiver.on('order:paid', mail, { name: 'mail' });
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'failed' });
  confirm.mockResolvedValue(DISAGREED);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 422 });
  expect(confirm).toHaveBeenCalledTimes(2);
  expect(mail).toHaveBeenCalledOnce();
  confirm.mockResolvedValue(AGREED);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled', ran: ['mail'] });
  expect(confirm).toHaveBeenCalledTimes(3);
  expect(ship).toHaveBeenCalledOnce();
});

describe('an order that is done for all of its handlers, and that confirm would reject now', () => {
  /** A shop that delivers paid orders, and has delivered one that `order:updated` stated as paid. */
  async function delivered(store = durableStore()) {
    const { confirm, handle, receiver } = shopOnce(store);
    confirm.mockResolvedValue(AGREED);
    const updated = { event: 'order:updated', id: 'whl_0' };
    expect(await deliver(receiver, paidOrder(), updated)).toMatchObject({ outcome: 'handled' });
    confirm.mockClear().mockResolvedValue(DISAGREED);
    handle.mockClear();
    return { confirm, handle, receiver, store };
  }
  const duplicate = { status: 200, outcome: 'duplicate', ran: [] };

  test('is a duplicate in a late order:paid, without a request', async () => {
    const { confirm, handle, receiver, store } = await delivered();
    for (let copy = 0; copy < 2; copy++)
      expect(await deliver(receiver, paidOrder())).toMatchObject(duplicate);
    expect(confirm).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
    skipWaits();
    await new Promise((resolve) => setTimeout(resolve, 61_000));
    expect(await store.count({ state: 'stalled' })).toBe(0);
  });

  test('is a duplicate after markDone, also under an earlier name of the handler', async () => {
    const store = durableStore();
    const { receiver } = shop(DISAGREED, { store, scope: 'shop' });
    receiver.onPaid(() => {});
    await receiver.markDone('onPaid', 'ord_1');
    const { receiver: renamed } = shopOnce(store, { name: 'deliver', formerly: 'onPaid' });
    expect(await deliver(renamed, paidOrder())).toMatchObject(duplicate);
  });

  test('is a duplicate for the worker of a queue, and not parked at its last attempt', async () => {
    const { confirm, receiver } = await delivered();
    const delivery = await receiver.verify(await captured(paidOrder()));
    if (delivery.outcome === 'rejected') throw new Error('it was refused');
    expect(await receiver.dispatch(delivery, { lastAttempt: true })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(confirm).not.toHaveBeenCalled();
  });

  test('runs no handler, even if the store forgets the effect after it was asked', async () => {
    const { confirm, handle, receiver } = shopOnce(
      durableStore(() => ({ isDone: async () => true })),
    );
    expect(await deliver(receiver, paidOrder())).toMatchObject(duplicate);
    expect(confirm).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
  });

  test('is looked up if another order was done', async () => {
    const { confirm, handle, receiver } = await delivered();
    expect(await deliver(receiver, paidOrder({ id: 'ord_2' }))).toMatchObject({ status: 422 });
    expect(confirm).toHaveBeenCalledOnce();
    expect(handle).not.toHaveBeenCalled();
  });

  const { isDone: _, ...withoutIsDone } = memoryStore();
  test.each<[string, IdempotencyStore]>([
    ['cannot say what is done', durableStore(undefined, withoutIsDone)],
    ['fails', durableStore(() => ({ isDone: () => Promise.reject(new Error('down')) }))],
    ['does not answer in time', durableStore(() => ({ isDone: () => new Promise(() => {}) }))],
    // A store of the user's own, in JavaScript, can return anything.
    ['answers neither true nor false', durableStore(() => ({ isDone: async () => ({}) as never }))],
  ])('is looked up if the store %s', async (_, store) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { confirm, handle, receiver } = shopOnce(store);
    await receiver.markDone('onPaid', 'ord_1');
    const delivering = deliver(receiver, paidOrder());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(confirm).toHaveBeenCalledOnce();
    expect(await delivering).toMatchObject({ status: 422 });
    expect(handle).not.toHaveBeenCalled();
  });

  test('is looked up if a handler that runs once for each delivery is left', async () => {
    const isDone = vi.fn(async () => true);
    const { confirm, receiver } = shopOnce(durableStore(() => ({ isDone })));
    const mail = vi.fn();
    receiver.on('order:paid', mail, { name: 'mail' });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 422 });
    expect(confirm).toHaveBeenCalledOnce();
    expect(isDone).not.toHaveBeenCalled();
    expect(mail).not.toHaveBeenCalled();
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no'))],
    ['is not done', async () => false],
  ])('is looked up if another effect %s', async (_, answer) => {
    const isDone = vi.fn(async () => true).mockImplementationOnce(answer);
    const { confirm, receiver } = shopOnce(durableStore(() => ({ isDone })));
    receiver.on(['order:paid'], () => {}, { name: 'mail', oncePer: ({ id }) => id });
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 422 });
    expect(isDone).toHaveBeenCalledTimes(2);
    expect(confirm).toHaveBeenCalledOnce();
  });

  test('is looked up if an effect is once per another field, which may be forged', async () => {
    const isDone = vi.fn(async () => true);
    const { confirm, receiver } = shop(DISAGREED, { store: durableStore(() => ({ isDone })) });
    const oncePer = ({ email }: { email: string }) => email;
    receiver.on('order:updated', () => {}, { name: 'welcome', oncePer });
    const updated = { event: 'order:updated' };
    expect(await deliver(receiver, paidOrder(), updated)).toMatchObject({ status: 422 });
    confirm.mockResolvedValue(AGREED);
    expect(await deliver(receiver, paidOrder(), updated)).toMatchObject({ outcome: 'handled' });
    expect(isDone).not.toHaveBeenCalled();
  });

  test('is looked up as it was sent, if oncePer throws or changes its payload', async () => {
    const { confirm, receiver } = shop(DISAGREED);
    const oncePer = (order: { id: string; email?: unknown }) => {
      order.email = 'changed';
      throw new Error('no');
    };
    receiver.on('order:updated', () => {}, { name: 'mail', oncePer });
    const options = { event: 'order:updated' };
    expect(await deliver(receiver, paidOrder(), options)).toMatchObject({ status: 422 });
    expect(confirm.mock.calls).toMatchObject([[{ payload: { email: 'buyer@example.com' } }]]);
  });
});

test('a confirm that is not a function is rejected', () => {
  // A JavaScript program can pass anything.
  expect(() => createReceiver({ secret: SECRET, confirm: {} as never })).toThrow(
    expect.objectContaining({
      code: 'option_invalid',
      message: expect.stringContaining('confirmOrders'),
    }),
  );
});

/** A signed request. */
async function captured(payload: unknown) {
  const receive = vi.fn(async (_: Parameters<Parameters<typeof deliver>[0]['receive']>[0]) => ({
    ...{ status: 200, headers: {}, body: '', outcome: 'handled' as const, ran: [] },
  }));
  await deliver({ receive }, payload);
  const [[request] = []] = receive.mock.calls;
  if (!request) throw new Error('nothing was sent');
  return request;
}

import {
  type Confirm,
  createReceiver,
  type HandOff,
  type IdempotencyStore,
  type Receiver,
  type ReceiverOptions,
  runJob,
  type StandardSchema,
  toJob,
} from 'storefront-webhooks';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const hooks = { onError() {}, onRejected() {}, onOutcome() {} };

beforeEach(() => skipWaits());

/** A shop whose orders disagree with their deliveries until `agrees` is set. */
function shop({ queue, store = durableStore() }: Partial<ReceiverOptions> = {}) {
  const order = { agrees: false };
  const confirm: Confirm = async () =>
    order.agrees
      ? { state: 'agreed', kept: false }
      : { state: 'disagreed', issues: [{ path: 'value', message: 'differs from the order' }] };
  const ship = vi.fn();
  const receiver = createReceiver({
    secret: SECRET,
    store,
    confirm,
    hooks,
    ...(queue && { queue }),
  });
  return { store, order, ship, receiver: receiver.on('order:paid', ship) };
}

/** A shop whose worker has parked a delivery, so that the store has it under two keys. */
async function parked(store = durableStore()) {
  const jobs: unknown[] = [];
  await deliver(shop({ store, queue: queueOf(jobs) }).receiver, paidOrder());
  const made = shop({ store });
  const result = await runJob(made.receiver, jobs[0], { isLast: false });
  expect(result).toMatchObject({ outcome: 'parked' });
  return made;
}

/** Redrives everything that is dead or stalled after a minute, as docs/operate.md does. */
async function redriveAll(receiver: Pick<Receiver, 'redrive'>, store: IdempotencyStore) {
  await new Promise((resolve) => setTimeout(resolve, 61_000));
  const outcomes: string[] = [];
  for (const state of ['dead', 'stalled'] as const) {
    for (const delivery of await store.list({ state }))
      outcomes.push(`${state} ${(await receiver.redrive(delivery)).outcome}`);
  }
  return outcomes;
}

/** The states in which the store lists a delivery a minute later. */
async function statesOf(store: IdempotencyStore) {
  await new Promise((resolve) => setTimeout(resolve, 61_000));
  const states = ['dead', 'stalled', 'failing'] as const;
  const listed = await Promise.all(states.map((state) => store.list({ state })));
  return listed.flat().map(({ state }) => state);
}

describe('a delivery that its order contradicted runs its handlers once', () => {
  test('after the worker of a queue has parked it', async () => {
    const jobs: unknown[] = [];
    const { store, order, ship, receiver } = shop({ queue: queueOf(jobs) });
    await deliver(receiver, paidOrder());
    expect(await runJob(receiver, jobs[0], { isLast: false })).toMatchObject({ outcome: 'parked' });
    expect(await statesOf(store)).toEqual(['dead', 'stalled']);
    order.agrees = true;
    expect(await redriveAll(receiver, store)).toEqual(['dead handled']);
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });

  test('after it was answered 422, and redriven in vain', async () => {
    const { store, order, ship, receiver } = shop();
    expect(await deliver(receiver, paidOrder())).toMatchObject({ status: 422 });
    for (let redrive = 0; redrive < 2; redrive++)
      expect(await redriveAll(receiver, store)).toEqual(['stalled rejected']);
    // Once: an entry of its own for the redrive would stay after the provider's retry was handled.
    expect(await statesOf(store)).toEqual(['stalled']);
    expect(ship).not.toHaveBeenCalled();
    order.agrees = true;
    expect(await redriveAll(receiver, store)).toEqual(['stalled handled']);
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });

  test('in the retry of its provider, after it was redriven in vain', async () => {
    const { store, order, ship, receiver } = shop();
    await deliver(receiver, paidOrder());
    await redriveAll(receiver, store);
    order.agrees = true;
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });

  test('after both of its entries were redriven in vain', async () => {
    const { store, order, ship, receiver } = await parked();
    expect(await statesOf(store)).toEqual(['dead', 'stalled']);
    for (const stalled of await store.list({ state: 'stalled' }))
      expect(await receiver.redrive(stalled)).toMatchObject({ outcome: 'rejected' });
    expect(await redriveAll(receiver, store)).toEqual(['dead parked']);
    expect(await statesOf(store)).toEqual(['dead', 'stalled']);
    order.agrees = true;
    expect(await redriveAll(receiver, store)).toEqual(['dead handled']);
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });

  test('if the genuine delivery is redriven first', async () => {
    const { store, order, ship, receiver } = await parked();
    order.agrees = true;
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'handled' });
    expect(await redriveAll(receiver, store)).toEqual(['dead duplicate']);
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });

  test('and stays listed while its handlers fail', async () => {
    const { store, order, ship, receiver } = await parked();
    order.agrees = true;
    ship.mockRejectedValueOnce(new Error('no stock'));
    expect(await redriveAll(receiver, store)).toEqual(['dead failed']);
    expect(await statesOf(store)).toEqual(['dead', 'stalled']);
    expect(await redriveAll(receiver, store)).toEqual(['dead handled']);
    expect(ship).toHaveBeenCalledTimes(2);
    expect(await statesOf(store)).toEqual([]);
  });

  test('and stays listed if the program that redrives it has no handler for it', async () => {
    const { store, order, ship, receiver } = await parked();
    const script = createReceiver({ secret: SECRET, store, hooks });
    script.on('order:paid', ship, { when: () => false });
    await redriveAll(script, store);
    expect(ship).not.toHaveBeenCalled();
    // The redrive made the dead row due, and nothing ran for it.
    expect(await statesOf(store)).toEqual(['stalled', 'stalled']);
    order.agrees = true;
    await redriveAll(receiver, store);
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });

  test('and goes to onInvalid in a redrive, as it would when it arrives', async () => {
    const store = durableStore();
    await parked(store);
    const { order, ship, receiver } = shop({ store });
    const keep = vi.fn();
    receiver.onInvalid(keep);
    expect((await redriveAll(receiver, store))[0]).toBe('dead parked');
    expect(keep).toHaveBeenCalledOnce();
    // The genuine delivery stays listed: only a redrive can run it, because its sender may have given up.
    expect(await statesOf(store)).toEqual(['stalled']);
    order.agrees = true;
    expect(await redriveAll(receiver, store)).toEqual(['stalled handled']);
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });
});

test('a delivery that does not fit its event is reported once by a redrive, as parked', async () => {
  const store = durableStore();
  const jobs: unknown[] = [];
  const unpaid = paidOrder({ status: 56 });
  await deliver(createReceiver({ secret: SECRET, hooks, queue: queueOf(jobs) }), unpaid);
  const [onOutcome, onRejected] = [vi.fn(), vi.fn()];
  const worker = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', () => {});
  await runJob(worker, jobs[0], { isLast: true });
  const receiver = createReceiver({ secret: SECRET, store, hooks: { onOutcome, onRejected } });
  receiver.on('order:paid', () => {});
  expect(await redriveAll(receiver, store)).toEqual(['dead parked']);
  expect(onRejected).not.toHaveBeenCalled();
  expect(onOutcome.mock.calls).toMatchObject([[{ outcome: 'parked' }]]);
});

test('a delivery that was parked for its schema and redriven is a duplicate when it arrives again', async () => {
  const store = durableStore();
  const jobs: unknown[] = [];
  const web = createReceiver({ secret: SECRET, hooks, queue: queueOf(jobs) });
  await deliver(web, paidOrder());
  const ship = vi.fn();
  const make = (issues?: { message: string }[]) => {
    const schema: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => (issues ? { issues } : { value }),
      },
    };
    const events = { 'order:paid': schema };
    return createReceiver({ secret: SECRET, store, hooks, events }).on('order:paid', ship);
  };
  const worker = make([{ message: 'is closed' }]);
  expect(await runJob(worker, jobs[0], { isLast: false })).toMatchObject({ outcome: 'parked' });
  const receiver = make();
  expect(await redriveAll(receiver, store)).toEqual(['dead handled']);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
  expect(ship).toHaveBeenCalledOnce();
  expect(await statesOf(store)).toEqual([]);
});

describe('a delivery that was redriven into the queue stays in it while a worker cannot run it', () => {
  const OTHER = 'the secret after the change';
  test.each<
    [string, Partial<ReceiverOptions>, Partial<ReceiverOptions>, Record<string, unknown>, string]
  >([
    [
      'because it does not know the status',
      { paidStatuses: [100] },
      { paidStatuses: [100, 'completed'] },
      { status: 'completed' },
      SECRET,
    ],
    ['because it lacks the secret', { secret: SECRET }, { secret: [SECRET, OTHER] }, {}, OTHER],
  ])('%s', async (_, old, changed, payload, secret) => {
    const store = durableStore();
    const jobs: unknown[] = [];
    const queue = { ...queueOf(jobs), redrive: queueOf(jobs).enqueue };
    const ship = vi.fn();
    const make = (options: Partial<ReceiverOptions>) =>
      createReceiver({ secret: SECRET, store, queue, hooks, ...options }).on('order:paid', ship);
    const [before, after] = [make(old), make(changed)];
    await deliver(after, paidOrder(payload), { secret });
    expect(await runJob(before, jobs.shift(), { isLast: false })).toMatchObject({
      outcome: 'parked',
    });
    expect(await redriveAll(after, store)).toEqual(['dead queued']);
    const [job] = jobs;
    expect(await runJob(before, job, { isLast: false })).toMatchObject({ state: 'retry' });
    expect(await runJob(after, job, { isLast: false })).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledOnce();
    expect(await statesOf(store)).toEqual([]);
  });
});

/** A queue of the user's own, which cannot redrive. */
function queueOf(jobs: unknown[]): HandOff {
  const enqueue: HandOff['enqueue'] = async (delivery) => {
    jobs.push(toJob(delivery));
    return { id: delivery.key };
  };
  return { durable: true, enqueue };
}

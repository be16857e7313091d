import {
  createReceiver,
  isPaid,
  memoryStore,
  type ReceiverOptions,
  runJob,
  type SealedDelivery,
  toJob,
} from 'storefront-webhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const unpaid = paidOrder({ status: 0 });
const UPDATED = { event: 'order:updated' };

/** A shop that delivers on a paid status of either event, with its reports and claims. */
function shop(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
  const { store = memoryStore() } = options;
  const claim = vi.spyOn(store, 'claim');
  const ship = vi.fn();
  const onError = vi.fn();
  const onOutcome = vi.fn();
  const hooks = { onError, onOutcome };
  const receiver = createReceiver({ secret: SECRET, hooks, ...options, store }).on(
    ['order:paid', 'order:updated'],
    ship,
    { name: 'deliver', when: isPaid, oncePer: (order) => order.id },
  );
  return { store, claim, ship, onError, onOutcome, receiver };
}

/** A queue and its jobs. */
function queueOf() {
  const jobs: unknown[] = [];
  const enqueue = async (delivery: SealedDelivery) => {
    jobs.push(toJob(delivery));
    return { id: delivery.id };
  };
  return { jobs, queue: { durable: true, enqueue } as const };
}

describe('a delivery that a handler’s `when` skips', () => {
  test('is ignored if it has no other handler, and is not claimed', async () => {
    const { receiver, claim, ship, onOutcome } = shop();
    const reply = await deliver(receiver, unpaid, UPDATED);
    expect(reply).toMatchObject({ status: 200, outcome: 'ignored', ran: [] });
    expect(claim).not.toHaveBeenCalled();
    expect(ship).not.toHaveBeenCalled();
    expect(onOutcome).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ outcome: 'ignored', ran: [], skipped: ['deliver'] }),
    );
  });

  test('does not use up its key: the same id is delivered when the order is paid', async () => {
    const { receiver, ship } = shop({ keyBy: 'id' });
    await deliver(receiver, unpaid, UPDATED);
    expect(await deliver(receiver, paidOrder(), UPDATED)).toMatchObject({ outcome: 'handled' });
    expect(ship).toHaveBeenCalledOnce();
  });

  test('counts as done when its other handlers have finished', async () => {
    const { receiver, ship, onOutcome } = shop();
    const audit = vi.fn();
    receiver.on('order:*', audit);
    const outcomes = [
      await deliver(receiver, unpaid, UPDATED),
      await deliver(receiver, unpaid, UPDATED),
      await deliver(receiver, paidOrder(), UPDATED),
    ].map(({ outcome, ran }) => [outcome, ran]);
    expect(outcomes).toEqual([
      ['handled', ['order:*']],
      ['duplicate', []],
      ['handled', ['deliver', 'order:*']],
    ]);
    expect(ship).toHaveBeenCalledOnce();
    expect(audit).toHaveBeenCalledTimes(2);
    expect(onOutcome.mock.calls.map(([{ skipped }]) => skipped)).toEqual([
      ['deliver'],
      ['deliver'],
      [],
    ]);
  });

  test('is skipped again when it comes from a queue', async () => {
    const { jobs, queue } = queueOf();
    const { receiver, claim, ship } = shop({ queue });
    for (const payload of [unpaid, paidOrder()]) await deliver(receiver, payload, UPDATED);
    const results = [];
    for (const job of jobs) results.push(await runJob(receiver, job, { isLast: true }));
    expect(results).toMatchObject([
      { state: 'done', outcome: 'ignored' },
      { state: 'done', outcome: 'handled' },
    ]);
    expect(ship).toHaveBeenCalledOnce();
    // The paid one has two: the delivery and the effect.
    expect(claim).toHaveBeenCalledTimes(2);
  });

  test('is skipped again by a redrive, and stays listed, because no handler has handled it', async () => {
    const store = durableStore();
    const broken = createReceiver({ secret: SECRET, store, hooks: { onError() {} } });
    broken.on('order:updated', () => {
      throw new Error('no');
    });
    await deliver(broken, unpaid, UPDATED);
    const [failing] = await store.list({ state: 'failing', limit: 9 });
    if (!failing) throw new Error('nothing is failing');
    const { receiver, ship } = shop({ store });
    expect(await receiver.redrive(failing)).toMatchObject({
      outcome: 'ignored',
      skipped: ['deliver'],
    });
    expect(ship).not.toHaveBeenCalled();
    expect(await store.count({ state: 'failing' })).toBe(1);
  });
});

describe('when', () => {
  test('is called for each event of a family or a list, with the paid statuses', async () => {
    const when = vi.fn((_: unknown, { event }: { event: string }) => event !== 'order:created');
    const receiver = createReceiver({ secret: SECRET, paidStatuses: [100, 54] }).on(
      'order:*',
      () => {},
      { when },
    );
    const outcomes = [];
    for (const event of ['order:created', 'order:paid']) {
      outcomes.push((await deliver(receiver, paidOrder(), { event })).outcome);
    }
    expect(outcomes).toEqual(['ignored', 'handled']);
    expect(when.mock.calls.map(([, info]) => info)).toEqual([
      { event: 'order:created', paidStatuses: [100, 54] },
      { event: 'order:paid', paidStatuses: [100, 54] },
    ]);
  });

  test('cannot change the payload of its handler', async () => {
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET }).on('order:paid', handler, {
      when(order) {
        order.id = 'changed';
        Object.assign(order.custom ?? {}, { gift: 'changed' });
        return true;
      },
    });
    await deliver(receiver, paidOrder({ custom: { gift: 'a friend' } }));
    expect(handler.mock.calls[0]?.[0].payload).toMatchObject({
      id: 'ord_1',
      custom: { gift: 'a friend' },
    });
  });
});

test.each<[string, () => unknown, object]>([
  [
    'throws',
    () => {
      throw new Error('the list of orders is empty');
    },
    { message: 'the list of orders is empty' },
  ],
  ['gives nothing', () => undefined, { code: 'handler_invalid' }],
  ['gives a number', () => 1, { code: 'handler_invalid' }],
  [
    'gives a promise',
    () => Promise.reject(new Error('too late')),
    { code: 'handler_invalid', message: expect.stringContaining('remove the async') },
  ],
])(
  'a `when` that %s fails the delivery, which is reported once and not claimed for this handler',
  async (_, when, told) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const { receiver, claim, onError } = shop();
    const broken = vi.fn();
    receiver.on('order:updated', broken, { name: 'broken', when: when as () => boolean });
    const reply = await deliver(receiver, unpaid, UPDATED);
    expect(reply).toMatchObject({ status: 500, outcome: 'failed' });
    expect(claim).not.toHaveBeenCalled();
    expect(await deliver(receiver, paidOrder(), UPDATED)).toMatchObject({ outcome: 'failed' });
    expect(onError).toHaveBeenCalledTimes(2);
    for (const call of onError.mock.calls) {
      expect(call).toEqual([
        expect.objectContaining(told),
        expect.objectContaining({ id: 'whl_1', event: 'order:updated', handler: 'broken' }),
      ]);
    }
    expect(broken).not.toHaveBeenCalled();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).not.toHaveBeenCalled();
    process.off('unhandledRejection', unhandled);
  },
);

describe('if the `when` of one handler throws, the other handlers', () => {
  /** A shop with handlers of each kind. The `when` of one throws until the test repairs it. */
  function shopOfFour(options: Partial<Omit<ReceiverOptions, 'events'>> = {}) {
    const found = shop(options);
    const [mirror, audit, gift] = [vi.fn(), vi.fn(), vi.fn()];
    const when = vi.fn((): boolean => {
      throw new Error('no list');
    });
    found.receiver
      .on('order:*', mirror, { name: 'mirror', skipOlder: true })
      .on('order:paid', gift, { name: 'gift', when, oncePer: ({ id }) => id })
      .on('order:paid', audit, { name: 'audit' });
    return { ...found, mirror, audit, gift, when };
  }

  test.each([
    [true, { outcome: 'handled', ran: ['gift'] }],
    [false, { outcome: 'duplicate', ran: [], skipped: ['gift'] }],
  ])('run once, and the delivery is retried until it returns %j', async (answer, last) => {
    const { receiver, ship, mirror, audit, gift, when, onError, onOutcome } = shopOfFour();
    for (const ran of [['deliver', 'mirror', 'audit'], []]) {
      const reply = await deliver(receiver, paidOrder());
      expect(reply).toMatchObject({ status: 500, outcome: 'failed', ran });
    }
    expect(
      onError.mock.calls.map(([error, { handler, attempt }]) => [error, handler, attempt]),
    ).toEqual([1, 2].map((attempt) => [new Error('no list'), 'gift', attempt]));
    when.mockReturnValue(answer);
    await deliver(receiver, paidOrder());
    expect(onOutcome).toHaveBeenLastCalledWith(expect.objectContaining(last));
    expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'duplicate' });
    expect([ship, mirror, audit, gift].map(({ mock }) => mock.calls.length)).toEqual([
      ...[1, 1, 1],
      answer ? 1 : 0,
    ]);
  });

  test('run even at the only attempt of a queue, and the delivery is parked', async () => {
    const store = durableStore();
    const { jobs, queue } = queueOf();
    const { receiver, ship, mirror, audit, gift, when } = shopOfFour({ store, queue });
    await deliver(receiver, paidOrder());
    const [job] = jobs;
    expect(await runJob(receiver, job, { isLast: true })).toMatchObject({ outcome: 'parked' });
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    expect(dead).toMatchObject({ orderId: 'ord_1', error: 'Error: no list' });
    when.mockReturnValue(true);
    if (!dead) throw new Error('nothing is dead');
    expect(await receiver.redrive(dead)).toMatchObject({ outcome: 'handled', ran: ['gift'] });
    expect([ship, mirror, audit, gift].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1]);
  });
});

test('a `when` that throws at the last attempt parks the delivery', async () => {
  const store = durableStore();
  const { jobs, queue } = queueOf();
  const { receiver } = shop({ store, queue });
  receiver.on('order:paid', () => {}, {
    name: 'broken',
    when: () => {
      throw new Error('the list of orders is empty');
    },
  });
  await deliver(receiver, paidOrder());
  const [job] = jobs;
  expect(await runJob(receiver, job, { isLast: false })).toMatchObject({ state: 'retry' });
  expect(await runJob(receiver, job, { isLast: true })).toMatchObject({ outcome: 'parked' });
  const dead = await store.list({ state: 'dead', limit: 9 });
  expect(dead).toMatchObject([{ orderId: 'ord_1', error: 'Error: the list of orders is empty' }]);
});

describe('stderr', () => {
  let lines: string[] = [];
  beforeEach(() => {
    lines = [];
    const write = (line: string) => void lines.push(line);
    vi.spyOn(console, 'error').mockImplementation(write);
    vi.spyOn(console, 'warn').mockImplementation(write);
  });
  afterEach(() => vi.restoreAllMocks());

  test('logs a delivery that `when` skips only with `debug`', async () => {
    for (const debug of [false, true]) {
      const { receiver } = shop({ hooks: {}, debug });
      await deliver(receiver, unpaid, UPDATED);
    }
    const told = lines.filter((line) => !line.includes('is in use'));
    expect(told).toEqual([
      expect.stringMatching(/"order:updated".*: ignored in [\d.]+ ms, skipped: deliver$/),
    ]);
  });
});

import {
  createReceiver,
  memoryStore,
  type Order,
  type SealedDelivery,
  type StoreTransactions,
} from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { findReceipt } from '../../src/request/receipt.js';
import { skipWaits } from '../support/clock.js';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';
import { gate } from '../support/gate.js';

const hooks = { onError() {}, onRejected() {} };

/** A paid order as a queue holds it. */
async function queued(payload = paidOrder()): Promise<SealedDelivery> {
  const jobs: SealedDelivery[] = [];
  const queue = {
    durable: true,
    enqueue: async (delivery: SealedDelivery) => {
      jobs.push(delivery);
      return { id: delivery.key };
    },
  } as const;
  const web = createReceiver({ secret: SECRET, queue, hooks }).onInvalid(() => {});
  await deliver(web, payload);
  if (!jobs[0]) throw new Error('nothing was handed off');
  return jobs[0];
}

function broken() {
  throw new Error('no stock');
}

describe('the last attempt of a queue', () => {
  test('parks a delivery that fails, and the store lists it with its error', async () => {
    const store = durableStore();
    const worker = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', broken);
    const job = await queued();
    expect(await worker.dispatch(job)).toMatchObject({ outcome: 'failed' });
    expect(await store.list({ state: 'dead', limit: 9 })).toEqual([]);
    const last = await worker.dispatch(job, { lastAttempt: true });
    expect(last).toMatchObject({ outcome: 'parked', ran: [], attempt: 2 });
    expect(await store.list({ state: 'dead', limit: 9 })).toMatchObject([
      { key: job.key, error: 'Error: no stock', attempts: 2 },
    ]);
    expect(await store.count({ state: 'dead' })).toBe(1);
    expect(await worker.dispatch(job)).toMatchObject({ outcome: 'parked' });
  });

  test('has all copies of the dead delivery parked, also those that arrive at once', async () => {
    const store = durableStore();
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', broken);
    await receiver.dispatch(await queued(), { lastAttempt: true });
    const answers = await Promise.all([1, 2].map(() => deliver(receiver, paidOrder())));
    const receipts = answers.map(({ body }) => findReceipt(body)?.outcome);
    // After the receipt of a `duplicate`, reconcile takes the order as delivered.
    expect(receipts).toEqual(['parked', 'parked']);
  });

  test('parks an invalid delivery without onInvalid once for all copies', async () => {
    const store = durableStore();
    const worker = createReceiver({ secret: SECRET, store, hooks });
    const job = await queued(paidOrder({ status: 56 }));
    const results = await Promise.all([1, 2].map(() => worker.dispatch(job)));
    expect(results.map(({ outcome }) => outcome)).toEqual(['parked', 'parked']);
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  test.each(['before', 'after'])(
    'parks it also if the handler that fails stands %s one that is busy elsewhere',
    async (place) => {
      skipWaits();
      const store = durableStore();
      const { opened, open } = gate();
      const once = { name: 'ship', oncePer: ({ id }: Order) => id };
      const there = createReceiver({ secret: SECRET, store, hooks });
      there.on('order:updated', () => opened, once);
      const shipping = deliver(there, paidOrder(), { event: 'order:updated' });
      const worker = createReceiver({ secret: SECRET, store, hooks });
      if (place === 'before') worker.on('order:paid', broken);
      worker.on('order:paid', () => {}, once);
      if (place === 'after') worker.on('order:paid', broken);
      const job = await queued();
      expect(await worker.dispatch(job, { lastAttempt: true })).toMatchObject({
        outcome: 'parked',
      });
      const dead = await store.list({ state: 'dead', limit: 9 });
      expect(dead).toMatchObject([{ key: job.key, error: 'Error: no stock' }]);
      open();
      expect(await shipping).toMatchObject({ outcome: 'handled' });
    },
  );

  test('parks it although an earlier attempt still runs in the same process', async () => {
    const store = durableStore();
    const { opened, open } = gate();
    const run = vi.fn(broken).mockImplementationOnce(async () => {
      await opened;
      throw new Error('no stock');
    });
    const worker = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', run);
    const job = await queued();
    const earlier = worker.dispatch(job);
    await vi.waitFor(() => expect(run).toHaveBeenCalled());
    const last = worker.dispatch(job, { lastAttempt: true });
    open();
    expect(await earlier).toMatchObject({ outcome: 'failed' });
    expect(await last).toMatchObject({ outcome: 'parked', attempt: 2 });
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  test('parks it if its transaction takes longer than the time limit', async () => {
    const transactions: StoreTransactions<unknown> = {
      check() {},
      refuseStep() {
        throw new Error('it has no steps');
      },
      async run({ begin, signal }, work) {
        await begin();
        await Promise.race([
          work(undefined),
          new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(new Error('statement timeout'))),
          ),
        ]);
        throw new Error('not reached');
      },
    };
    const store = durableStore(() => ({ transactions }));
    const worker = createReceiver({ secret: SECRET, store, timeout: 20, hooks });
    worker.on('order:paid', () => new Promise(() => {}), { name: 'sell', transaction: true });
    await worker.dispatch(await queued(), { lastAttempt: true });
    await vi.waitFor(async () => expect(await store.count({ state: 'dead' })).toBe(1));
    expect(await store.list({ state: 'dead' })).toMatchObject([
      { error: 'Error: statement timeout' },
    ]);
  });

  test('does not park a delivery that succeeds', async () => {
    const store = durableStore();
    const worker = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', () => {});
    expect(await worker.dispatch(await queued(), { lastAttempt: true })).toMatchObject({
      outcome: 'handled',
    });
    expect(await store.count({ state: 'dead' })).toBe(0);
  });

  test.each([
    ['keeps', 'before the handler begins', 'unavailable', []],
    ['parks', 'after the handler', 'parked', [{ error: 'Error: locked' }]],
  ])('%s a delivery whose transaction fails %s', async (_, when, outcome, dead) => {
    const locked = Object.assign(new Error('locked'), { parameters: ['a customer'] });
    const transactions: StoreTransactions<unknown> = {
      check() {},
      refuseStep() {
        throw new Error('it has no steps');
      },
      async run({ begin }, work) {
        await begin();
        if (when === 'after the handler') await work(undefined);
        throw locked;
      },
    };
    const store = durableStore(() => ({ transactions }));
    const onError = vi.fn();
    const worker = createReceiver({ secret: SECRET, store, hooks: { ...hooks, onError } });
    worker.on('order:paid', () => {}, { name: 'sell', transaction: true });
    const last = await worker.dispatch(await queued(), { lastAttempt: true });
    expect(last).toMatchObject({ outcome });
    expect(await store.list({ state: 'dead' })).toMatchObject(dead);
    const [error] = onError.mock.calls[0] ?? [];
    if (outcome === 'parked') expect(error).toBe(locked);
    else {
      expect(error).toMatchObject({ code: 'store_unavailable', cause: { message: 'locked' } });
      expect(error.cause).not.toHaveProperty('parameters');
    }
  });

  test('fails if the store cannot park the delivery', async () => {
    const worker = createReceiver({ secret: SECRET, store: memoryStore(), hooks });
    worker.on('order:paid', broken);
    const job = await queued();
    for (const lastAttempt of [true, true]) {
      expect(await worker.dispatch(job, { lastAttempt })).toMatchObject({ outcome: 'failed' });
    }
  });

  test('parks only the delivery, so that another one can still run its effects', async () => {
    const store = durableStore();
    const handler = vi.fn(broken);
    const worker = createReceiver({ secret: SECRET, store, hooks });
    worker.on('order:paid', handler, { name: 'order:paid', oncePer: (order) => order.id });
    await worker.dispatch(await queued(), { lastAttempt: true });
    handler.mockReturnValue(undefined as never);
    expect(await deliver(worker, paidOrder(), { id: 'whl_2' })).toMatchObject({
      outcome: 'handled',
    });
  });

  test.each([false, true])(
    'parks an invalid delivery without onInvalid, as any attempt does (%s)',
    async (lastAttempt) => {
      const store = durableStore();
      const worker = createReceiver({ secret: SECRET, store, hooks });
      const job = await queued(paidOrder({ status: 56 }));
      const last = await worker.dispatch(job, { lastAttempt });
      expect(last).toMatchObject({ outcome: 'parked', issues: [{ path: 'status' }] });
      const [dead] = await store.list({ state: 'dead', limit: 9 });
      expect(dead).toMatchObject({ error: 'The payload does not fit its event.' });

      const keep = vi.fn();
      const next = createReceiver({ secret: SECRET, store, hooks }).onInvalid(keep);
      if (dead) await next.redrive(dead);
      expect(keep).toHaveBeenCalledOnce();
    },
  );

  test('tells what does not fit, whatever becomes of onInvalid', async () => {
    const store = durableStore();
    const onInvalid = vi.fn(() => {
      throw new Error('the disk is full');
    });
    const worker = createReceiver({ secret: SECRET, store, hooks }).onInvalid(onInvalid);
    const job = await queued(paidOrder({ status: 56 }));
    const results = [
      await worker.dispatch(job),
      await worker.dispatch(job, { lastAttempt: true }),
      await worker.dispatch(job),
    ];
    const issues = [{ path: 'status' }];
    expect(results).toMatchObject([
      { outcome: 'failed', issues },
      { outcome: 'parked', issues },
      { outcome: 'parked', issues },
    ]);
    expect(onInvalid).toHaveBeenCalledTimes(2);
  });

  test('parks a delivery that cannot be read because a schema throws', async () => {
    const store = durableStore();
    const onError = vi.fn();
    let fails = true;
    const validate = (value: unknown) => {
      if (fails) throw new Error('the rates are not loaded');
      return { value };
    };
    const events = {
      'order:paid': { '~standard': { version: 1, vendor: 'own', validate } },
    } as const;
    const handler = vi.fn();
    const worker = createReceiver({ secret: SECRET, store, events, hooks: { ...hooks, onError } });
    worker.on('order:paid', handler);
    const job = await queued();
    await expect(worker.dispatch(job)).rejects.toThrow('the rates are not loaded');
    expect(await worker.dispatch(job, { lastAttempt: true })).toMatchObject({ outcome: 'parked' });
    expect(onError).toHaveBeenCalledTimes(2);
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    expect(dead).toMatchObject({ key: job.key, error: 'Error: the rates are not loaded' });
    fails = false;
    if (dead) expect(await worker.redrive(dead)).toMatchObject({ outcome: 'handled' });
  });

  test('parks a redriven delivery again if it still has no handler', async () => {
    const store = durableStore();
    const worker = createReceiver({ secret: SECRET, store, hooks });
    await worker.dispatch(await queued(paidOrder({ status: 56 })), { lastAttempt: true });
    const [dead] = await store.list({ state: 'dead', limit: 9 });
    if (dead) expect(await worker.redrive(dead)).toMatchObject({ outcome: 'parked' });
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  test('rejects a delivery without a handler if the store cannot park it', async () => {
    const worker = createReceiver({ secret: SECRET, store: memoryStore(), hooks });
    const job = await queued(paidOrder({ status: 56 }));
    expect(await worker.dispatch(job, { lastAttempt: true })).toMatchObject({
      code: 'payload_invalid',
    });
  });
});

describe('a receiver with a queue', () => {
  test('redrives through the queue if that can redrive', async () => {
    const store = durableStore();
    const redrive = vi.fn(async () => ({ id: '1' }));
    const enqueue = vi.fn(async () => ({ id: '1' }));
    const handler = vi.fn(broken);
    const queue = { durable: true, enqueue, redrive } as const;
    const receiver = createReceiver({ secret: SECRET, store, queue, hooks });
    receiver.on('order:paid', handler);
    const job = await queued();
    await receiver.dispatch(job, { lastAttempt: true });
    expect(await receiver.redrive(job)).toMatchObject({ outcome: 'queued' });
    expect(redrive).toHaveBeenCalledExactlyOnceWith(job, {
      key: job.key,
      signal: expect.any(AbortSignal),
    });
    expect(enqueue).not.toHaveBeenCalled();
    // The delivery is alive again, so the queue's worker can claim it.
    expect(await store.count({ state: 'dead' })).toBe(0);
    expect(handler).toHaveBeenCalledOnce();
  });

  test('runs the handlers itself if the queue cannot redrive', async () => {
    const store = durableStore();
    const enqueue = vi.fn(async () => ({ id: '1' }));
    const handler = vi.fn();
    handler.mockRejectedValueOnce(new Error('no stock'));
    const queue = { durable: true, enqueue } as const;
    const receiver = createReceiver({ secret: SECRET, store, queue, hooks });
    receiver.on('order:paid', handler);
    const job = await queued();
    expect(await receiver.dispatch(job, { lastAttempt: true })).toMatchObject({
      outcome: 'parked',
    });
    // The queue may remember the job as completed, and would then drop another one with its key.
    expect(await receiver.redrive(job)).toMatchObject({ outcome: 'handled' });
    expect(enqueue).not.toHaveBeenCalled();
    expect(handler).toHaveBeenCalledTimes(2);
    expect(await store.count({ state: 'dead' })).toBe(0);
  });

  test('reports a redrive as unavailable if the queue is down', async () => {
    const onError = vi.fn();
    const queue = {
      durable: true,
      enqueue: async () => ({ id: '1' }),
      redrive: async () => {
        throw new Error('down');
      },
    } as const;
    const receiver = createReceiver({ secret: SECRET, queue, hooks: { ...hooks, onError } });
    expect(await receiver.redrive(await queued())).toMatchObject({ outcome: 'unavailable' });
    expect(onError).toHaveBeenCalledOnce();
  });
});

test.each([
  ['a queue in memory', { durable: false, enqueue() {} }],
  ["another library's queue", { durable: true, add() {} }],
  ['null', null],
])('%s is rejected as a queue', (_, queue) => {
  expect(() => createReceiver({ secret: SECRET, queue: queue as never })).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining('queue') }),
  );
});

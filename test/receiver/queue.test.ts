import { inspect } from 'node:util';
import { createReceiver, type HandOff, type SealedDelivery, toJob } from 'storefront-webhooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const hooks = { onRejected() {}, onError() {} };

function makeQueue() {
  const jobs: SealedDelivery[] = [];
  const queue: HandOff = {
    durable: true,
    enqueue: async (delivery, { key }) => {
      jobs.push(delivery);
      return { id: key };
    },
  };
  return { jobs, queue };
}

test('a worker runs each queued delivery once', async () => {
  const { jobs, queue } = makeQueue();
  const web = createReceiver({ secret: SECRET, queue, scope: 'shop' });
  const handler = vi.fn();
  const worker = createReceiver({ secret: SECRET, scope: 'shop' }).on('order:paid', handler);

  await deliver(web, paidOrder());
  await deliver(web, paidOrder());
  expect(jobs.map(({ key }) => key)).toEqual([jobs[0]?.key, jobs[0]?.key]);
  const outcomes = [];
  for (const job of jobs) outcomes.push(await worker.dispatch(job));
  expect(outcomes).toMatchObject([{ outcome: 'handled' }, { outcome: 'duplicate' }]);
  expect(handler).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ id: 'whl_1', scope: 'shop', source: 'queue' }),
  );
});

test('a delivery without an id keeps its key in the queue', async () => {
  const { jobs, queue } = makeQueue();
  const headers = { 'x-service-webhook': '' };
  await deliver(createReceiver({ secret: SECRET, queue }), paidOrder(), { headers });
  const handler = vi.fn();
  const worker = createReceiver({ secret: SECRET }).on('*', handler);
  await deliver(worker, paidOrder(), { headers });
  for (const job of jobs)
    expect(await worker.dispatch(job)).toMatchObject({ outcome: 'duplicate' });
});

test('a very long event is cut before it is stored, and its delivery keeps its key', async () => {
  const { jobs, queue } = makeQueue();
  const event = `coupon:${'x'.repeat(15_000)}`;
  await deliver(createReceiver({ secret: SECRET, queue }), paidOrder(), { event });
  const [job] = jobs;
  expect(job?.event).toMatch(/^coupon:x{93}…[0-9a-f]{32}$/);

  const store = durableStore();
  const worker = createReceiver({ secret: SECRET, store, hooks }).onUnknown(() => {
    throw new Error('no');
  });
  expect(await deliver(worker, paidOrder(), { event })).toMatchObject({ outcome: 'failed' });
  const kept = await store.list({ state: 'failing', limit: 9 });
  expect(kept).toMatchObject([{ key: job?.key, event: job?.event }]);
  if (job) expect(await worker.dispatch(job)).toMatchObject({ outcome: 'failed', key: job.key });
});

test('an unverified or unreadable delivery is not queued', async () => {
  const { jobs, queue } = makeQueue();
  const web = createReceiver({ secret: SECRET, queue, hooks });
  await deliver(web, paidOrder(), { secret: 'another secret' });
  await deliver(web, '{');
  expect(jobs).toEqual([]);
});

test.each([
  ['without a handler', paidOrder(), 'order:paid'],
  ['with an unknown event', paidOrder(), 'coupon:used'],
  ['that contradicts its event', paidOrder({ status: 56 }), 'order:paid'],
])('a delivery %s is queued, because the worker may handle it', async (_, payload, event) => {
  const { jobs, queue } = makeQueue();
  const web = createReceiver({ secret: SECRET, queue, hooks });
  expect(await deliver(web, payload, { event })).toMatchObject({ outcome: 'queued' });
  const keep = vi.fn();
  const worker = createReceiver({ secret: SECRET }).on('*', keep).onUnknown(keep).onInvalid(keep);
  for (const job of jobs) await worker.dispatch(job);
  expect(keep).toHaveBeenCalledOnce();
});

test.each([
  ['nothing', undefined],
  ['a number', 1],
  ['a job without an id', {}],
])('a queue that returns %s has not stored the delivery', async (_, job) => {
  const onError = vi.fn();
  const queue = { durable: true, enqueue: () => job } as unknown as HandOff;
  const web = createReceiver({ secret: SECRET, queue, hooks: { onError } });
  expect(await deliver(web, paidOrder())).toMatchObject({ status: 503, outcome: 'unavailable' });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'queue_invalid' });
});

test('an error of the queue reaches the hooks without the properties of its driver', async () => {
  const onError = vi.fn();
  const full = Object.assign(new Error('OOM command not allowed'), {
    code: 'OOM',
    command: { name: 'evalsha', args: ['buyer@example.com'] },
  });
  const queue = { durable: true, enqueue: () => Promise.reject(full) } as const;
  const web = createReceiver({ secret: SECRET, queue, hooks: { onError } });
  await deliver(web, paidOrder());
  const [error] = onError.mock.calls[0] ?? [];
  expect(error).toMatchObject({ message: 'OOM command not allowed', code: 'OOM' });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('buyer@example.com');
});

test('a queue that does not answer learns that the receiver has given up', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const signals: AbortSignal[] = [];
  const enqueue: HandOff['enqueue'] = (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const web = createReceiver({ secret: SECRET, queue: { durable: true, enqueue }, hooks });
  const reply = deliver(web, paidOrder());
  await vi.advanceTimersByTimeAsync(0);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await reply).toMatchObject({ status: 503, outcome: 'unavailable' });
  expect(signals.map(({ reason }) => reason)).toEqual([
    expect.objectContaining({ code: 'timed_out' }),
  ]);
});

test('a worker rejects a delivery of another scope, and runs no handler', async () => {
  const { jobs, queue } = makeQueue();
  await deliver(createReceiver({ secret: SECRET, queue, scope: 'books' }), paidOrder());
  const handler = vi.fn();
  const onError = vi.fn();
  const store = durableStore();
  const worker = createReceiver({ secret: SECRET, scope: 'music', store, hooks: { onError } });
  worker.on('*', handler);
  for (const job of jobs) {
    for (const lastAttempt of [false, true]) {
      const dispatched = worker.dispatch(job, { lastAttempt });
      await expect(dispatched).rejects.toMatchObject({ code: 'scope_invalid' });
    }
  }
  expect(handler).not.toHaveBeenCalled();
  expect(onError).toHaveBeenCalledTimes(2);
  // This receiver must not finish it.
  expect(await store.count({ state: 'dead' })).toBe(0);
});

test('dispatch runs the handlers of a receiver with a queue', async () => {
  const { jobs, queue } = makeQueue();
  const receiver = createReceiver({ secret: SECRET, queue }).on('*', () => {});
  await deliver(receiver, paidOrder());
  const outcomes = await Promise.all(jobs.map((job) => receiver.dispatch(job)));
  expect(outcomes).toMatchObject([{ outcome: 'handled' }]);
  expect(jobs).toHaveLength(1);
});

test('a worker that takes a job before the queue has answered runs its handlers', async () => {
  const handler = vi.fn();
  let dispatched: unknown;
  const queue: HandOff = {
    durable: true,
    // The worker takes the stored job before the web process gets the answer.
    enqueue: async (delivery) => {
      dispatched = await receiver.dispatch(delivery);
      return { id: '1' };
    },
  };
  const receiver = createReceiver({ secret: SECRET, queue, hooks }).on('order:paid', handler);
  expect(await deliver(receiver, paidOrder())).toMatchObject({ outcome: 'queued' });
  expect(dispatched).toMatchObject({ outcome: 'handled' });
  expect(handler).toHaveBeenCalledOnce();
});

test.each([
  ['nothing', undefined],
  ['a refusal, which verify() gave', { outcome: 'rejected', code: 'signature_invalid' }],
])('%s cannot be dispatched, and the error names the right type', async (_, given) => {
  const receiver = createReceiver({ secret: SECRET, hooks });
  const dispatched = receiver.dispatch(given as unknown as SealedDelivery);
  await expect(dispatched).rejects.toMatchObject({ code: 'delivery_invalid' });
});

test('seal rejects a value that is not a delivery', () => {
  expect(() => toJob({} as unknown as SealedDelivery)).toThrow(/toJob\(\) takes a sealed delivery/);
});

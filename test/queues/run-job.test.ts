import {
  createReceiver,
  fromJob,
  type Job,
  memoryStore,
  type Result,
  runJob,
  type SealedDelivery,
  toJob,
} from 'storefront-webhooks';
import { describe, expect, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const hooks = { onError() {} };
const attempt = { isLast: false };
const broken = () => Promise.reject(new Error('the shop is closed'));

/** The job that a receiver makes of a delivery, once a queue has kept it as JSON. */
async function queued(payload = paidOrder()): Promise<Job> {
  const kept: string[] = [];
  const queue = {
    durable: true,
    enqueue: async (delivery: SealedDelivery) => {
      kept.push(JSON.stringify(toJob(delivery)));
      return { id: delivery.id };
    },
  } as const;
  await deliver(createReceiver({ secret: SECRET, queue }), payload);
  return JSON.parse(kept[0] ?? '');
}

const gives = (result: Result) => ({ dispatch: async () => result });

describe('a job', () => {
  test('is the delivery again, byte for byte', () => {
    const delivery: SealedDelivery = {
      key: 'ab'.repeat(32),
      scope: 'shop \0 \ud800',
      id: 'whl_1',
      event: 'order:paid',
      receivedAt: 1_790_000_000_000,
      body: Uint8Array.from({ length: 256 }, (_, byte) => byte),
      proof: '{}',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    expect(fromJob(JSON.parse(JSON.stringify(toJob(delivery))))).toEqual(delivery);
  });

  test.each([[undefined], [{ hello: 'world' }], [{ v: 2 }]])('is not %j', (job) => {
    expect(() => fromJob(job)).toThrow(expect.objectContaining({ code: 'job_invalid' }));
  });
});

describe('a job that was run', () => {
  test('is done, once, under the key of its delivery', async () => {
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', handler);
    const job = await queued();
    const done = { state: 'done', key: job.key };
    expect(await runJob(receiver, job, attempt)).toEqual({ ...done, outcome: 'handled' });
    expect(await runJob(receiver, job, attempt)).toMatchObject({ outcome: 'duplicate' });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('is tried again where it fails, and dead-lettered where that was the last attempt', async () => {
    const store = durableStore();
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', broken);
    const job = await queued();
    const failed = await runJob(receiver, job, attempt);
    expect(failed).toMatchObject({ state: 'retry', error: { code: 'delivery_unfinished' } });
    expect(await store.count({ state: 'dead' })).toBe(0);
    const last = await runJob(receiver, job, { isLast: true });
    expect(last).toMatchObject({ state: 'done', outcome: 'parked' });
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  test('stays in the queue where the store cannot keep a dead letter', async () => {
    const receiver = createReceiver({ secret: SECRET, store: memoryStore(), hooks });
    receiver.on('order:paid', broken);
    const last = await runJob(receiver, await queued(), { isLast: true });
    expect(last).toMatchObject({ state: 'retry' });
  });

  test('is dead-lettered at once where it does not fit its event', async () => {
    const store = durableStore();
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', () => {});
    const job = await queued(paidOrder({ status: 56 }));
    expect(await runJob(receiver, job, attempt)).toMatchObject({
      state: 'done',
      outcome: 'parked',
    });
    expect(await store.count({ state: 'dead' })).toBe(1);
  });

  test.each([
    ['busy', 9_500, 9_500],
    ['busy', 20, 1_000],
    ['unavailable', undefined, 1_000],
  ] as const)(
    'waits where it is %s for %s ms, and at least a second',
    async (outcome, given, retryAfterMs) => {
      const receiver = gives({ outcome, ran: [], retryAfterMs: given });
      expect(await runJob(receiver, await queued(), attempt)).toEqual({
        state: 'wait',
        retryAfterMs,
        error: expect.objectContaining({
          message: `The delivery "whl_1" is not done yet: ${outcome}. See node_modules/storefront-webhooks/docs/errors.md#delivery_unfinished`,
        }),
      });
    },
  );

  test('is not run where it was put in by another hand', async () => {
    const store = durableStore();
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', handler);
    const { proof, ...forged } = await queued();
    const result = await runJob(receiver, forged, attempt);
    expect(result).toMatchObject({ state: 'done', outcome: 'parked' });
    expect(handler).not.toHaveBeenCalled();
  });

  test('is left to the queue where it is no delivery', async () => {
    const dispatch = vi.fn();
    expect(await runJob({ dispatch }, { hello: 'world' }, attempt)).toMatchObject({
      state: 'retry',
      error: { code: 'job_invalid' },
    });
    expect(dispatch).not.toHaveBeenCalled();
  });

  test('has nothing of its payload in its error, whatever the receiver throws', async () => {
    const dispatch = () => Promise.reject(new Error('buyer@example.com is no address'));
    const result = await runJob({ dispatch }, await queued(), attempt);
    expect(result).toMatchObject({
      state: 'retry',
      error: {
        message:
          'The delivery "whl_1" is not done yet: it could not be read. See node_modules/storefront-webhooks/docs/errors.md#delivery_unfinished',
      },
    });
  });

  test('needs to know whether the queue tries again, and says so at once', async () => {
    const misspelled: object = { islast: true };
    // @ts-expect-error: what plain JavaScript may pass.
    await expect(runJob({ dispatch: vi.fn() }, {}, misspelled)).rejects.toMatchObject({
      code: 'option_invalid',
    });
  });

  test('needs a receiver, and says so at once', async () => {
    // @ts-expect-error: what plain JavaScript may pass.
    await expect(runJob(() => {}, {}, attempt)).rejects.toMatchObject({ code: 'receiver_invalid' });
  });
});

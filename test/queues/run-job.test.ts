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
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliver, paidOrder, SECRET } from '../support/deliver.js';
import { durableStore } from '../support/durable.js';

const hooks = { onError() {} };
const attempt = { isLast: false };
const broken = () => Promise.reject(new Error('the shop is closed'));

/** The job that a receiver makes of a delivery, after a round trip through JSON. */
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
  test('restores the delivery, byte for byte', () => {
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

  test.each([[undefined], [{ hello: 'world' }], [{ v: 2 }]])('is rejected if it is %j', (job) => {
    expect(() => fromJob(job)).toThrow(expect.objectContaining({ code: 'job_invalid' }));
  });

  test.each([['ab'], ['AB'.repeat(32)], [`${'ab'.repeat(32)}\n`], [7]])(
    'is rejected if its key is %j, which no store takes',
    async (key) => {
      const job = { ...(await queued()), key };
      expect(() => fromJob(job)).toThrow(expect.objectContaining({ code: 'job_invalid' }));
    },
  );

  test('is rejected if its body is not base64, in a runtime without Buffer', async () => {
    const job = { ...(await queued()), body: 'not base64!' };
    const dispatch = vi.fn();
    vi.stubGlobal('Buffer', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => fromJob(job)).toThrow(expect.objectContaining({ code: 'job_invalid' }));
    expect(await runJob({ dispatch }, job, attempt)).toMatchObject({
      state: 'retry',
      error: { code: 'job_invalid' },
    });
    expect(dispatch).not.toHaveBeenCalled();
  });
});

describe('the result of a job', () => {
  test('is done, once, under the key of its delivery', async () => {
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks }).on('order:paid', handler);
    const job = await queued();
    const done = { state: 'done', key: job.key };
    expect(await runJob(receiver, job, attempt)).toEqual({ ...done, outcome: 'handled' });
    expect(await runJob(receiver, job, attempt)).toMatchObject({ outcome: 'duplicate' });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('is a retry if it fails, and a dead letter if it was the last attempt', async () => {
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

  test('is a retry if the store cannot keep a dead letter', async () => {
    const receiver = createReceiver({ secret: SECRET, store: memoryStore(), hooks });
    receiver.on('order:paid', broken);
    const last = await runJob(receiver, await queued(), { isLast: true });
    expect(last).toMatchObject({ state: 'retry' });
  });

  test('is a dead letter at once if the payload is invalid', async () => {
    const store = durableStore();
    const [onOutcome, onRejected] = [vi.fn(), vi.fn()];
    const reported = { ...hooks, onOutcome, onRejected };
    const receiver = createReceiver({ secret: SECRET, store, hooks: reported });
    receiver.on('order:paid', () => {});
    const job = await queued(paidOrder({ status: 56 }));
    expect(await runJob(receiver, job, attempt)).toMatchObject({
      state: 'done',
      outcome: 'parked',
    });
    expect(await store.count({ state: 'dead' })).toBe(1);
    expect(onRejected).not.toHaveBeenCalled();
    expect(onOutcome.mock.calls).toMatchObject([[{ outcome: 'parked' }]]);
  });

  test('is a retry, reported once, if the payload is invalid and the store cannot keep it', async () => {
    const onRejected = vi.fn();
    const receiver = createReceiver({ secret: SECRET, hooks: { ...hooks, onRejected } });
    receiver.on('order:paid', () => {});
    const job = await queued(paidOrder({ status: 56 }));
    expect(await runJob(receiver, job, attempt)).toMatchObject({ state: 'retry' });
    expect(onRejected).toHaveBeenCalledOnce();
  });

  test.each([
    ['busy', 9_500, 9_500],
    ['busy', 20, 1_000],
    ['unavailable', undefined, 1_000],
  ] as const)(
    'is a wait if the delivery is %s for %s ms, of at least a second',
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

  test('is parked if someone else put the job into the queue', async () => {
    const store = durableStore();
    const handler = vi.fn();
    const receiver = createReceiver({ secret: SECRET, store, hooks }).on('order:paid', handler);
    const { proof, ...forged } = await queued();
    const result = await runJob(receiver, forged, attempt);
    expect(result).toMatchObject({ state: 'done', outcome: 'parked' });
    expect(handler).not.toHaveBeenCalled();
  });

  test('is a retry if the job is not a delivery', async () => {
    const dispatch = vi.fn();
    expect(await runJob({ dispatch }, { hello: 'world' }, attempt)).toMatchObject({
      state: 'retry',
      error: { code: 'job_invalid' },
    });
    expect(dispatch).not.toHaveBeenCalled();
  });

  test('has an error without the payload, whatever the receiver throws', async () => {
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

  test('cannot be determined without isLast, which is an error', async () => {
    const misspelled: object = { islast: true };
    // @ts-expect-error: a mistake that a JavaScript program can make.
    await expect(runJob({ dispatch: vi.fn() }, {}, misspelled)).rejects.toMatchObject({
      code: 'option_invalid',
    });
  });

  test('cannot be determined without a receiver, which is an error', async () => {
    // @ts-expect-error: a mistake that a JavaScript program can make.
    await expect(runJob(() => {}, {}, attempt)).rejects.toMatchObject({ code: 'receiver_invalid' });
  });
});

import { createReceiver } from 'storefront-webhooks';
import { bullmqQueue } from 'storefront-webhooks/bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newDelivery, SECRET, sendOrder } from '../../../src/testing/queue/deliveries.js';

/** A queue whose first connection is still being made. */
function openQueue() {
  const client = { resolve: (_: object) => {}, reject: (_: Error) => {} };
  const connected = new Promise<object>((resolve, reject) => {
    Object.assign(client, { resolve, reject });
  });
  const add = vi.fn(async () => ({ id: 'wh-1' }));
  const getJob = vi.fn(async () => undefined);
  const queue = bullmqQueue({
    name: 'webhooks',
    add,
    getJob,
    getJobState: async () => 'waiting',
    getBackend: () => ({ client: connected }),
  });
  const call = (how: 'enqueue' | 'redrive', signal: AbortSignal) => {
    const delivery = newDelivery();
    return queue[how]?.(delivery, { key: delivery.key, signal });
  };
  return { client, add, getJob, queue, call };
}

describe.each(['enqueue', 'redrive'] as const)('%s, before the queue is connected,', (how) => {
  test('gives the delivery up with its request', async () => {
    const { client, add, getJob, call } = openQueue();
    const late = new AbortController();
    const called = call(how, late.signal);
    const other = call(how, new AbortController().signal);
    const noticed = vi.spyOn(late.signal, 'removeEventListener');
    late.abort(new Error('answered 503'));
    await expect(called).rejects.toThrow('answered 503');
    await expect(call(how, late.signal)).rejects.toThrow('answered 503');
    expect([add.mock.calls, getJob.mock.calls]).toEqual([[], []]);
    client.resolve({});
    await expect(other).resolves.toEqual({ id: expect.stringMatching(/^wh-/) });
    expect(add).toHaveBeenCalledOnce();
    // The queue keeps nothing of it: an outage of hours would fill the memory.
    expect(noticed).not.toHaveBeenCalled();
  });
});

test.each(['enqueue', 'redrive'] as const)(
  'a queue whose keys are on several servers of a cluster is told its prefix: %s',
  async (how) => {
    const { client, add, call } = openQueue();
    client.resolve({ isCluster: true });
    const cause = new Error("CROSSSLOT Keys in request don't hash to the same slot");
    add.mockRejectedValueOnce(cause);
    await expect(call(how, new AbortController().signal)).rejects.toMatchObject({
      code: 'queue_invalid',
      message: expect.stringContaining("prefix: '{webhooks}'"),
      cause,
    });
  },
);

describe('a queue of BullMQ that could not start', () => {
  const stderr = vi.spyOn(console, 'error').mockImplementation(() => {});
  afterEach(() => stderr.mockClear());

  const TO_DO =
    'The queue "webhooks" of BullMQ could not start (Error: Connection is closed.), and BullMQ does not try again. ' +
    'Restart this process.';

  test.each(['enqueue', 'redrive'] as const)('says so, and how to start it: %s', async (how) => {
    const { client, add, call } = openQueue();
    const called = call(how, new AbortController().signal);
    client.reject(new Error('Connection is closed.'));
    const failure = { code: 'queue_invalid', message: expect.stringContaining(TO_DO) };
    await expect(called).rejects.toMatchObject(failure);
    await expect(call(how, new AbortController().signal)).rejects.toMatchObject(failure);
    expect(add).not.toHaveBeenCalled();
  });

  test('says so on stderr', async () => {
    const { client, queue } = openQueue();
    client.reject(new Error('Connection is closed.'));
    const receiver = createReceiver({ secret: SECRET, queue });
    expect(await sendOrder(receiver)).toMatchObject({ status: 503 });
    expect(stderr).toHaveBeenCalledWith(expect.stringContaining(TO_DO.slice(0, 60)));
  });
});

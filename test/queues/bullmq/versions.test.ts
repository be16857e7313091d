import { type BullmqQueue, bullmqQueue } from 'storefront-webhooks/bullmq';
import { describe, expect, test, vi } from 'vitest';
import { toJob } from '../../../src/queues/job.js';
import { newDelivery, redrive } from '../deliveries.js';

/** The keys of a queue in Redis. A marker wakes the workers of BullMQ 5 and later. */
const keys = { wait: 'bull:webhooks:wait' };
const keysOf5 = { ...keys, marker: 'bull:webhooks:marker' };

/** A queue with the fields by which versions differ. test/nightly/package/oldest has the real ones. */
function queueOf(parts: object) {
  const job = {
    getState: vi.fn(async () => 'failed'),
    promote: vi.fn(async () => {}),
    remove: vi.fn(async () => {}),
  };
  const add = vi.fn(async () => ({ id: 'wh-1' }));
  const getJobState = async () => 'waiting';
  const queue: BullmqQueue = { add, getJob: async () => job, getJobState, ...parts };
  return { queue, job, add };
}

const stating = (version: string) => ({ metaValues: { version } });

describe('bullmqQueue', () => {
  test.each([
    ['BullMQ 4.18.3', stating('bullmq:4.18.3')],
    ['BullMQ 3.16.2', { ...stating('bullmq:3.16.2'), keys }],
    ['BullMQ 4 or earlier', { keys }],
  ])('rejects %s by its name and version', (found, parts) => {
    expect(() => bullmqQueue(queueOf(parts).queue)).toThrow(
      expect.objectContaining({
        code: 'version_unsupported',
        message: expect.stringContaining(
          `bullmqQueue() needs BullMQ 5 or later, and this is ${found}: npm install bullmq@latest.`,
        ),
      }),
    );
  });

  test.each([
    ['BullMQ 6', stating('bullmq:6.7.0')],
    ['BullMQ 5.0, which states no version', { keys: keysOf5 }],
    ['BullMQ Pro', stating('bullmq-pro:7.0.0')],
    ['a wrapper', {}],
  ])('accepts %s', (_, parts) => {
    expect(bullmqQueue(queueOf(parts).queue)).toMatchObject({ durable: true });
  });

  test('rejects a queue of Bull, which BullMQ replaces', () => {
    expect(() => bullmqQueue(queueOf({ process() {}, keys }).queue)).toThrow(
      expect.objectContaining({
        code: 'client_invalid',
        message: expect.stringMatching(/this is one of Bull: import \{ Queue \} from 'bullmq'/),
      }),
    );
  });
});

describe('a redriven delivery', () => {
  test.each(['completed', 'failed'])(
    'has a new job with all of its attempts, and the signature of the current secret, in place of one that has %s',
    async (state) => {
      const { queue, job, add } = queueOf({});
      job.getState.mockResolvedValue(state);
      const delivery = { ...newDelivery(), proof: 'signed anew' };
      await redrive(bullmqQueue(queue), delivery);
      expect(add).toHaveBeenCalledExactlyOnceWith('webhook', toJob(delivery), expect.anything());
      expect(job.remove.mock.invocationCallOrder[0]).toBeLessThan(
        add.mock.invocationCallOrder[0] ?? 0,
      );
    },
  );

  test('has a new job if BullMQ removes its job while redrive looks it up', async () => {
    const { queue, job, add } = queueOf({});
    job.getState.mockResolvedValue('unknown');
    const delivery = newDelivery();
    await redrive(bullmqQueue(queue), delivery);
    expect(add).toHaveBeenCalledExactlyOnceWith('webhook', toJob(delivery), expect.anything());
  });

  test('keeps its job if that waits for its next attempt, which then runs at once', async () => {
    const { queue, job, add } = queueOf({});
    job.getState.mockResolvedValue('delayed');
    await redrive(bullmqQueue(queue), newDelivery());
    expect(job.promote).toHaveBeenCalledOnce();
    expect([add.mock.calls, job.remove.mock.calls]).toEqual([[], []]);
  });
});

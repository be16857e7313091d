import { type BullmqQueue, bullmqQueue } from 'storefront-webhooks/bullmq';
import { describe, expect, test, vi } from 'vitest';
import { newDelivery, redrive } from '../deliveries.js';

/** The keys of a queue in Redis. A marker wakes the workers of BullMQ 5 and later. */
const keys = { wait: 'bull:webhooks:wait' };
const keysOf5 = { ...keys, marker: 'bull:webhooks:marker' };

/** A queue with the fields by which versions differ. test/nightly/package/oldest has the real ones. */
function queueOf(parts: object) {
  const job = {
    getState: async () => 'failed',
    retry: vi.fn(async () => {}),
    promote: vi.fn(async () => {}),
    remove: vi.fn(async () => {}),
  };
  const add = vi.fn(async () => ({ id: 'wh-1' }));
  const queue: BullmqQueue = { add, getJob: async () => job, ...parts };
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

  test('rejects a queue of Bull, which BullMQ replaces', () => {
    expect(() => bullmqQueue(queueOf({ process() {}, keys }).queue)).toThrow(
      expect.objectContaining({
        code: 'client_invalid',
        message: expect.stringMatching(/this is one of Bull: import \{ Queue \} from 'bullmq'/),
      }),
    );
  });
});

describe('a redriven delivery has all of its attempts', () => {
  test.each([
    ['5.66', stating('bullmq:5.66.0')],
    ['6', stating('bullmq:6.7.0')],
    ['Pro', stating('bullmq-pro:7.0.0')],
    ['a wrapper', {}],
  ])('with the retry of BullMQ: %s', async (_, parts) => {
    const { queue, job, add } = queueOf(parts);
    await redrive(bullmqQueue(queue), newDelivery());
    expect(job.retry).toHaveBeenCalledExactlyOnceWith('failed', {
      resetAttemptsMade: true,
      resetAttemptsStarted: true,
    });
    expect(add).not.toHaveBeenCalled();
  });

  test.each([
    ['5.65', stating('bullmq:5.65.1')],
    ['5.0, which states no version', { keys: keysOf5 }],
  ])('with a new job, because the retry of BullMQ %s keeps them used up', async (_, parts) => {
    const { queue, job, add } = queueOf(parts);
    await redrive(bullmqQueue(queue), newDelivery());
    expect(job.retry).not.toHaveBeenCalled();
    expect(job.remove.mock.invocationCallOrder[0]).toBeLessThan(
      add.mock.invocationCallOrder[0] ?? 0,
    );
  });
});

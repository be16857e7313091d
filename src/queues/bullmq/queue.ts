import { UsageError } from '../../errors.js';
import type { HandOff } from '../../process/hand-off.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { toJob } from '../job.js';
import { afterActive } from '../run-job.js';
import type { BullmqQueue, JobTerms, StoredJob } from './bullmq.js';
import { warnWithoutLimits } from './limits.js';

const TERMS: JobTerms = {
  // The first within seconds, all of them in 18 to 36 hours: longer than most outages.
  attempts: 18,
  backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
  // The store remembers what is done: a few jobs are kept for a person to look at.
  removeOnComplete: { count: 100 },
};

/**
 * Hands deliveries to a `Queue` of BullMQ, one job each. A job is tried 18 times within about a day, and
 * kept where all of them fail. `defaultJobOptions` of the queue come first, but for `removeOnFail`.
 *
 * Redis has to keep what it is given: `appendonly yes`, `maxmemory-policy noeviction`. The connection needs
 * a `socketTimeout`, or it may fall silent for ever; where it has none, one line on stderr says so.
 *
 * @throws {UsageError} `client_invalid`
 *
 * @example
 * import { Queue } from 'bullmq';
 *
 * const connection = { url: process.env.REDIS_URL ?? 'redis://127.0.0.1', socketTimeout: 5_000, maxRetriesPerRequest: 1 };
 * const queue = bullmqQueue(new Queue('webhooks', { connection }));
 * const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET, queue });
 */
export function bullmqQueue(queue: BullmqQueue): HandOff {
  if (typeof queue?.add !== 'function' || typeof queue.getJob !== 'function') {
    throw new UsageError(
      'client_invalid',
      "bullmqQueue needs a Queue of BullMQ: new Queue('webhooks', { connection }).",
    );
  }
  // Where it cannot connect, its own errors say so.
  warnWithoutLimits(queue).catch(() => {});
  const add = async (delivery: SealedDelivery) => {
    const id = jobIdOf(delivery);
    const terms = { ...TERMS, ...queue.defaultJobOptions, jobId: id, removeOnFail: false };
    await queue.add('webhook', toJob(delivery), terms);
    return { id };
  };
  return {
    durable: true,
    description: `BullMQ${queue.name === undefined ? '' : ` (${queue.name})`}`,
    enqueue: add,
    redrive: async (delivery, { signal }) => {
      const id = jobIdOf(delivery);
      for (let attempt = 1; ; attempt++) {
        const job = await afterActive(signal, () => lookUp(queue, id));
        if (!job) return add(delivery);
        try {
          await putBack(job);
          return { id };
        } catch (error) {
          // The job may have changed since it was looked up.
          if (attempt >= 3) throw error;
        }
      }
    },
  };
}

interface Found {
  readonly job: StoredJob;
  readonly state: string;
}

async function lookUp(queue: BullmqQueue, id: string): Promise<Found | undefined> {
  const job = await queue.getJob(id);
  const state = await job?.getState();
  // `unknown`: it has ended and was removed between the two.
  return job && state && state !== 'unknown' ? { job, state } : undefined;
}

/** Has it tried at once, and with all of its attempts where it has ended. */
async function putBack({ job, state }: Found): Promise<void> {
  if (state === 'failed' || state === 'completed') {
    await job.retry(state, { resetAttemptsMade: true, resetAttemptsStarted: true });
  } else if (state === 'delayed') {
    await job.promote();
  }
}

// With a prefix: BullMQ refuses ids that are whole numbers.
function jobIdOf({ key }: SealedDelivery): string {
  return `wh-${key}`;
}

import { UsageError } from '../../errors/errors.js';
import type { HandOff } from '../../process/queue.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { toJob } from '../job.js';
import { afterActive } from '../run-job.js';
import type { BullmqQueue, JobTerms, StoredJob } from './bullmq.js';
import { Connection, connectionOf } from './connection.js';
import { warnOfQueue } from './limits.js';
import { checkVersion } from './version.js';

const TERMS: JobTerms = {
  // The first retries come within seconds, the last after 18 to 36 hours: longer than most outages.
  attempts: 18,
  backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
  // The store remembers what is done. A few completed jobs are kept for the operator to inspect.
  removeOnComplete: { count: 100 },
};

/**
 * Hands deliveries to a `Queue` of BullMQ, one job each. BullMQ tries a job 18 times within about a day, and keeps
 * it if all attempts fail. The queue's `defaultJobOptions` take precedence, except for `removeOnFail`.
 *
 * Redis must not lose jobs: set `appendonly yes` and `maxmemory-policy noeviction`. The connection needs a
 * `socketTimeout`, or it may fall silent forever; if it has none, one line on stderr warns of it. If its
 * server has become a replica, the queue has it connect again, at most once a second.
 *
 * @throws {UsageError} `client_invalid`, or `version_unsupported` before BullMQ 5.
 *
 * @example
 * import { Queue } from 'bullmq';
 *
 * const connection = {
 *   url: process.env.REDIS_URL ?? 'redis://127.0.0.1',
 *   maxRetriesPerRequest: 1,
 *   socketTimeout: 5_000,
 *   reconnectOnError: (error: Error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message),
 * };
 * const queue = bullmqQueue(new Queue('webhooks', { connection }));
 * const receiver = createReceiver({ secret: process.env.WEBHOOK_SECRET, queue });
 */
export function bullmqQueue(queue: BullmqQueue): HandOff {
  if (typeof queue?.add !== 'function' || typeof queue.getJob !== 'function') {
    throw new UsageError(
      'client_invalid',
      "bullmqQueue() takes a Queue of BullMQ: new Queue('webhooks', { connection }).",
    );
  }
  checkVersion(queue);
  const client = connectionOf(queue);
  const connection = new Connection(queue, client);
  // If it cannot connect, the queue reports its own errors.
  warnOfQueue(queue, client).catch(() => {});
  const add = async (delivery: SealedDelivery) => {
    const id = jobIdOf(delivery);
    const { removeOnComplete, ...defaults } = queue.defaultJobOptions ?? {};
    const terms = { ...TERMS, ...defaults, jobId: id, removeOnFail: false };
    // BullMQ applies the queue's own limit by itself. Its type differs between the versions of BullMQ.
    if (removeOnComplete !== undefined) delete terms.removeOnComplete;
    await queue.add('webhook', toJob(delivery), terms);
    return { id };
  };
  const addAgain = async (delivery: SealedDelivery, signal: AbortSignal) => {
    const id = jobIdOf(delivery);
    for (let attempt = 1; ; attempt++) {
      const job = await afterActive(signal, () => lookUp(queue, id));
      if (!job) return add(delivery);
      try {
        if (hasEnded(job.state)) {
          // A new job has all of its attempts, and the delivery with the signature of the current secret.
          await job.job.remove();
          return await add(delivery);
        }
        if (job.state === 'delayed') await job.job.promote();
        return { id };
      } catch (error) {
        // The job may have changed since the look-up.
        if (attempt >= 3) throw error;
      }
    }
  };
  const enqueue = async (delivery: SealedDelivery, signal: AbortSignal) => {
    // In one round trip. BullMQ takes no job while it keeps an ended one of the same id, which may have run no handler.
    const [added, state] = await Promise.all([add(delivery), queue.getJobState(jobIdOf(delivery))]);
    return hasEnded(state) ? addAgain(delivery, signal) : added;
  };
  return {
    durable: true,
    description: `BullMQ${queue.name === undefined ? '' : ` (${queue.name})`}`,
    enqueue: (delivery, { signal }) => connection.use(signal, () => enqueue(delivery, signal)),
    redrive: (delivery, { signal }) => connection.use(signal, () => addAgain(delivery, signal)),
  };
}

function hasEnded(state: string): boolean {
  return state === 'completed' || state === 'failed';
}

interface Found {
  readonly job: StoredJob;
  readonly state: string;
}

async function lookUp(queue: BullmqQueue, id: string): Promise<Found | undefined> {
  const job = await queue.getJob(id);
  const state = await job?.getState();
  // `unknown`: the job ended and was removed between the two calls.
  return job && state && state !== 'unknown' ? { job, state } : undefined;
}

// With a prefix, because BullMQ rejects ids that are integers.
function jobIdOf({ key }: SealedDelivery): string {
  return `wh-${key}`;
}

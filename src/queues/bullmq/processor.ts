import { WebhookError } from '../../errors.js';
import type { Outcome } from '../../outcome.js';
import { fromJob } from '../job.js';
import { unfinished, workSafely } from '../unfinished.js';
import type { Dispatching } from '../work.js';
import type { BullmqJob } from './bullmq.js';

const MAX_PAUSE_MS = 60_000;

/**
 * The processor of a `Worker` of BullMQ: it runs the handlers of a receiver. What fails is tried again;
 * what fails for the last time is parked in a store that is durable, for `receiver.redrive`. While the
 * store is down or the delivery is being processed elsewhere, the job waits, and uses up no attempt.
 *
 * @example
 * const worker = new Worker('webhooks', bullmqProcessor(receiver), { connection, concurrency: 10 });
 */
export function bullmqProcessor(
  receiver: Dispatching,
): (job: BullmqJob, token?: string) => Promise<{ readonly outcome: Outcome }> {
  return async (job, token) => {
    const delivery = readJob(job);
    const lastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    const worked = await workSafely(receiver, delivery, { lastAttempt });
    const { outcome, state, retryAfterMs } = worked;
    if (state === 'done') return { outcome };
    const error = unfinished(delivery, outcome);
    if (state === 'failed') throw error;
    const pauseMs = Math.max(retryAfterMs, pauseBefore(job));
    await job.moveToDelayed(Date.now() + pauseMs, token);
    throw named(error, 'DelayedError');
  };
}

function readJob({ data }: BullmqJob) {
  try {
    return fromJob(data);
  } catch (error) {
    // To try it again would not make a delivery of it. BullMQ keeps it.
    throw error instanceof WebhookError ? named(error, 'UnrecoverableError') : error;
  }
}

/** From one second on, twice as long each time, by how often it has been begun and has not failed. */
function pauseBefore({ attemptsStarted = 1, attemptsMade }: BullmqJob): number {
  return Math.min(1000 * 2 ** Math.max(0, attemptsStarted - attemptsMade - 1), MAX_PAUSE_MS);
}

/** BullMQ knows its own errors by their names as well as by their classes. */
function named(error: Error, name: 'DelayedError' | 'UnrecoverableError'): Error {
  return Object.assign(error, { name });
}

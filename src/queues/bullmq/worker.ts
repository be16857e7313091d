import { WebhookError } from '../../errors.js';
import type { Outcome } from '../../outcome.js';
import { fromJob } from '../job.js';
import { unfinished, workSafely } from '../unfinished.js';
import type { Dispatching } from '../work.js';
import type { BullmqJob } from './bullmq.js';
import { aheadOfRedis, canHold, hold } from './clock.js';

const MAX_PAUSE_MS = 60_000;

/**
 * The processor of a `Worker` of BullMQ: it runs the handlers of a receiver. What fails is tried again;
 * what fails for the last time is parked in a store that is durable, for `receiver.redrive`. While the
 * store is down or the delivery is being processed elsewhere, the job waits, and uses up no attempt. Where
 * the clock of this process is off by more than a second, it holds pauses of up to a minute itself.
 *
 * @example
 * const worker = new Worker('webhooks', bullmqWorker(receiver), { connection, concurrency: 10 });
 */
export function bullmqWorker(
  receiver: Dispatching,
): (job: BullmqJob, token?: string) => Promise<{ readonly outcome: Outcome }> {
  return async (job, token) => {
    const delivery = readJob(job);
    const lastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    const worked = await workSafely(receiver, delivery, { lastAttempt }).catch((error) =>
      fail(job, error),
    );
    const { outcome, state, retryAfterMs } = worked;
    if (state === 'done') return { outcome };
    const error = unfinished(delivery, outcome);
    if (state === 'failed') return fail(job, error);
    return wait(job, token, { error, pauseMs: Math.max(retryAfterMs, pauseBefore(job)) });
  };
}

/** Has it tried again without using up an attempt. */
async function wait(
  job: BullmqJob,
  token: string | undefined,
  { error, pauseMs }: { readonly error: Error; readonly pauseMs: number },
): Promise<never> {
  if ((await aheadOfRedis(job)) === 0) {
    await job.moveToDelayed(Date.now() + pauseMs, token);
    throw named(error, 'DelayedError');
  }
  await hold(job, pauseMs);
  await job.moveToWait(token);
  throw named(error, 'WaitingError');
}

/** Has it tried again as BullMQ does, which puts it off by the clock of this process. */
async function fail(job: BullmqJob, error: Error): Promise<never> {
  const pauseMs = backoffOf(job);
  const aheadMs = pauseMs > 0 ? await aheadOfRedis(job) : 0;
  if (aheadMs !== 0 && canHold(pauseMs)) {
    await hold(job, pauseMs);
    job.opts = { ...job.opts, backoff: 0 };
  } else if (aheadMs < 0) {
    job.opts = { ...job.opts, backoff: { type: 'fixed', delay: pauseMs - aheadMs } };
  }
  // Else, a longer pause of a fast worker is too long by as much: rather late than all attempts at once.
  throw error;
}

/** But for its jitter. None where it is not tried again or at once, or as a function of its worker says. */
function backoffOf({ attemptsMade, opts: { attempts = 1, backoff = 0 } }: BullmqJob): number {
  if (attemptsMade + 1 >= attempts) return 0;
  if (typeof backoff === 'number') return backoff;
  const { type, delay = 0 } = backoff;
  if (type === 'exponential') return Math.round(2 ** attemptsMade * delay);
  return type === 'fixed' ? delay : 0;
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
function named(error: Error, name: 'DelayedError' | 'UnrecoverableError' | 'WaitingError'): Error {
  return Object.assign(error, { name });
}

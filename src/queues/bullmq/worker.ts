import type { WebhookError, WebhookErrorCode } from '../../errors.js';
import type { Outcome } from '../../outcome.js';
import { checkDispatching, type Dispatching, type JobResult, runJob } from '../run-job.js';
import type { BullmqJob } from './bullmq.js';
import { aheadOfRedis, canHold, hold } from './clock.js';

const MAX_PAUSE_MS = 60_000;

/**
 * The processor of a `Worker` of BullMQ: it runs the handlers of a receiver. What fails is tried again;
 * what fails for the last time is parked in a store that is durable, for `receiver.redrive`. While the
 * store is down or the delivery is being processed elsewhere, the job waits, and uses up no attempt. Where
 * the clock of this process is off by more than a second, it holds pauses of up to a minute itself.
 *
 * @throws {UsageError} `receiver_invalid`
 *
 * @example
 * import { Worker } from 'bullmq';
 *
 * const connection = { url: process.env.REDIS_URL ?? 'redis://127.0.0.1', maxRetriesPerRequest: null };
 * const worker = new Worker('webhooks', bullmqWorker(receiver), { connection, concurrency: 10 });
 */
export function bullmqWorker(
  receiver: Dispatching,
): (job: BullmqJob, token?: string) => Promise<{ readonly outcome: Outcome }> {
  checkDispatching(receiver);
  return async (job, token) => {
    const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    const result = await runJob(receiver, job.data, { isLast });
    if (result.state === 'done') return { outcome: result.outcome };
    if (result.state === 'wait') return wait(job, token, result);
    return fail(job, result.error);
  };
}

/** Has it tried again without using up an attempt. */
async function wait(
  job: BullmqJob,
  token: string | undefined,
  { error, retryAfterMs }: Extract<JobResult, { state: 'wait' }>,
): Promise<never> {
  const pauseMs = Math.max(retryAfterMs, pauseBefore(job));
  if ((await aheadOfRedis(job)) === 0) {
    await job.moveToDelayed(Date.now() + pauseMs, token);
    throw new BullmqError('DelayedError', error);
  }
  await hold(job, pauseMs);
  await job.moveToWait(token);
  throw new BullmqError('WaitingError', error);
}

/** Has it tried again as BullMQ does, which puts it off by the clock of this process. */
async function fail(job: BullmqJob, error: WebhookError): Promise<never> {
  // To try it again would not make a delivery of it. BullMQ keeps it.
  if (error.code === 'job_invalid') throw new BullmqError('UnrecoverableError', error);
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

/** From one second on, twice as long each time, by how often it has been begun and has not failed. */
function pauseBefore({ attemptsStarted = 1, attemptsMade }: BullmqJob): number {
  return Math.min(1000 * 2 ** Math.max(0, attemptsStarted - attemptsMade - 1), MAX_PAUSE_MS);
}

/** BullMQ knows its own errors by their names as well as by their classes. */
class BullmqError extends Error {
  readonly code: WebhookErrorCode;

  constructor(
    override readonly name: 'DelayedError' | 'UnrecoverableError' | 'WaitingError',
    { code, message }: WebhookError,
  ) {
    super(message);
    this.code = code;
  }
}

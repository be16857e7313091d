import type { WebhookError, WebhookErrorCode } from '../../errors/errors.js';
import type { Outcome } from '../../request/outcome.js';
import { checkDispatching, type Dispatching, type JobResult, runJob } from '../run-job.js';
import type { BullmqJob } from './bullmq.js';
import { aheadOfRedis, canHold, forgetLock, hold, isStopping } from './clock.js';
import { warnOfWorker } from './limits.js';

const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Returns the processor of a BullMQ `Worker`, which runs the handlers of a receiver. BullMQ retries a job that
 * fails; after its last attempt, the receiver parks the delivery in a durable store, for `receiver.redrive`. While
 * the store is down or another worker processes the delivery, the job waits without using up an attempt. If the
 * clock of this process is off by more than a second, the process waits out pauses of up to a minute itself. The
 * connection needs a `socketTimeout` above 10 s, and a `reconnectOnError`, or the worker may take no more jobs after
 * a failover; at the first job, one line on stderr warns if one is missing.
 *
 * @throws {UsageError} `receiver_invalid`
 *
 * @example
 * import { Worker } from 'bullmq';
 *
 * const connection = {
 *   url: process.env.REDIS_URL ?? 'redis://127.0.0.1',
 *   maxRetriesPerRequest: null,
 *   socketTimeout: 12_000,
 *   reconnectOnError: (error: Error) => /\b(READONLY|UNBLOCKED)\b/.test(error.message),
 * };
 * const worker = new Worker('webhooks', bullmqWorker(receiver), { connection, concurrency: 10 });
 */
export function bullmqWorker(
  receiver: Dispatching,
): (job: BullmqJob, token?: string) => Promise<{ readonly outcome: Outcome }> {
  checkDispatching(receiver);
  let hasLooked = false;
  return async (job, token) => {
    // Only a job leads to the worker, and so to its connection.
    if (!hasLooked) warnOfWorker(job).catch(() => {});
    hasLooked = true;
    const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    const result = await runJob(receiver, job.data, { isLast });
    if (result.state === 'done') return { outcome: result.outcome };
    if (result.state === 'wait')
      return wait(job, token, result, receiver.closing?.aborted === true);
    return fail(job, result.error);
  };
}

/**
 * Delays a job without using up an attempt. If the receiver is closing, the job is for another worker, so the pause is
 * short. The slot then stays occupied until the worker closes, too: otherwise it would take the whole backlog, job by
 * job, and delay each. A closing worker of some versions takes jobs until none is due, so their pauses grow.
 */
async function wait(
  job: BullmqJob,
  token: string | undefined,
  { error, retryAfterMs }: Extract<JobResult, { state: 'wait' }>,
  isClosing: boolean,
): Promise<never> {
  const holds = isClosing && !isStopping(job);
  const pauseMs = holds ? MIN_PAUSE_MS : Math.max(retryAfterMs, pauseBefore(job));
  const isDelayed = !job.moveToWait || (await aheadOfRedis(job)) === 0;
  if (isDelayed) await job.moveToDelayed(Date.now() + pauseMs, token);
  else {
    await hold(job, pauseMs);
    await job.moveToWait?.(token);
  }
  if (holds) {
    forgetLock(job);
    await hold(job, MAX_PAUSE_MS);
  }
  throw new BullmqError(isDelayed ? 'DelayedError' : 'WaitingError', error);
}

/** Fails a job, so that BullMQ retries it after a pause by the clock of this process. */
async function fail(job: BullmqJob, error: WebhookError): Promise<never> {
  // A retry would not turn it into a delivery. BullMQ keeps the failed job.
  if (error.code === 'job_invalid') throw new BullmqError('UnrecoverableError', error);
  const pauseMs = backoffOf(job);
  const aheadMs = pauseMs > 0 ? await aheadOfRedis(job) : 0;
  if (aheadMs !== 0 && canHold(pauseMs)) {
    await hold(job, pauseMs);
    job.opts = { ...job.opts, backoff: 0 };
  } else if (aheadMs < 0) {
    job.opts = { ...job.opts, backoff: { type: 'fixed', delay: pauseMs - aheadMs } };
  }
  // If neither applies, a long pause on a fast clock is too long by the difference. A late retry is better than all
  // attempts at once.
  throw error;
}

/**
 * Returns the pause before the next attempt, without its jitter; 0 if there is no retry or no pause, or if a
 * custom strategy of the worker decides.
 */
function backoffOf({ attemptsMade, opts: { attempts = 1, backoff = 0 } }: BullmqJob): number {
  if (attemptsMade + 1 >= attempts) return 0;
  if (typeof backoff === 'number') return backoff;
  const { type, delay = 0 } = backoff;
  if (type === 'exponential') return Math.round(2 ** attemptsMade * delay);
  return type === 'fixed' ? delay : 0;
}

/** Returns a pause that starts at one second and doubles with each start that did not end in a failure. */
function pauseBefore({ attemptsStarted = 1, attemptsMade }: BullmqJob): number {
  return Math.min(
    MIN_PAUSE_MS * 2 ** Math.max(0, attemptsStarted - attemptsMade - 1),
    MAX_PAUSE_MS,
  );
}

/** An error that BullMQ recognizes by its name, without its class. */
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

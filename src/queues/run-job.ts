import { UsageError, WebhookError } from '../errors.js';
import { unexplained } from '../explained.js';
import type { Outcome, Result } from '../outcome.js';
import { quoted } from '../report/log.js';
import { isOurs } from '../report/text.js';
import type { SealedDelivery } from '../request/delivery.js';
import { pause } from '../timing.js';
import { jobInvalid, readJob } from './job.js';

/** What a queue's worker needs of a receiver. */
export interface Dispatching {
  dispatch(delivery: SealedDelivery, options: { readonly lastAttempt: boolean }): Promise<Result>;
}

/**
 * What a queue is to do with a job.
 *
 * - `done`: forget it. `key` is the key that it was processed under, where it was: not always the one that
 *   the job names, which anybody may have written.
 * - `retry`: it failed, which counts as an attempt: try it again, after a pause that grows. `error` has the
 *   code `job_invalid` where the job holds no delivery, which will not get better.
 * - `wait`: it could not be tried, because it is being processed elsewhere or the store is down: try it again
 *   after `retryAfterMs`, at least a second, and do not count it.
 *
 * Each `error` says why, names the delivery, and holds nothing of its payload.
 */
export type JobResult =
  | { readonly state: 'done'; readonly outcome: Outcome; readonly key: string | undefined }
  | { readonly state: 'retry'; readonly error: WebhookError }
  | { readonly state: 'wait'; readonly retryAfterMs: number; readonly error: WebhookError };

/**
 * Processes a job that came out of a queue, and says what the queue is to do with it: the inside of a worker
 * of your own. The receiver proves the delivery again, claims it, and runs its handlers. One that does not
 * fit its event is dead-lettered at once.
 *
 * @param job - What `toJob` made, or whatever else was in the queue.
 * @param options.isLast - Whether the queue will not try it again. What fails is then dead-lettered in the
 *   store; if the store is not durable, the result is `retry` all the same, and the queue has to keep the job.
 * @throws {UsageError} `receiver_invalid` or `option_invalid`, and for nothing else.
 *
 * @example
 * jobs.process(async (job, { isLast }) => {
 *   const result = await runJob(receiver, job, { isLast });
 *   if (result.state === 'wait') return jobs.later(job, result.retryAfterMs);
 *   if (result.state === 'retry') throw result.error;
 * });
 */
export async function runJob(
  receiver: Dispatching,
  job: unknown,
  options: { readonly isLast: boolean },
): Promise<JobResult> {
  checkDispatching(receiver);
  if (typeof options?.isLast !== 'boolean') {
    throw new UsageError(
      'option_invalid',
      'runJob() has to know whether the queue tries this job again: runJob(receiver, job, { isLast: … }).',
    );
  }
  const delivery = readJob(job);
  if (!delivery) return { state: 'retry', error: jobInvalid() };
  try {
    return await runDelivery(receiver, delivery, options);
  } catch (error) {
    // A new one: an error of somebody else's may carry anything, such as the payload.
    const why = isOurs(error) ? unexplained(error.message) : 'it could not be read';
    return { state: 'retry', error: unfinished(delivery, why) };
  }
}

/** {@link runJob}, where the delivery was read from its job. Throws what the receiver throws. */
export async function runDelivery(
  receiver: Dispatching,
  delivery: SealedDelivery,
  { isLast }: { readonly isLast: boolean },
): Promise<JobResult> {
  let result = await receiver.dispatch(delivery, { lastAttempt: isLast });
  // It does not fit its event, and will not the next time: at once to where a person looks at it.
  if (result.outcome === 'rejected' && !isLast) {
    result = await receiver.dispatch(delivery, { lastAttempt: true });
  }
  switch (result.outcome) {
    case 'rejected':
    case 'failed':
      return { state: 'retry', error: unfinished(delivery, result.outcome) };
    case 'busy':
    case 'unavailable': {
      const retryAfterMs = Math.max(result.retryAfterMs ?? 0, MIN_WAIT_MS);
      return { state: 'wait', retryAfterMs, error: unfinished(delivery, result.outcome) };
    }
    case 'handled':
    // It is a dead letter in the store by now, which is where it is listed and redriven.
    case 'parked':
    case 'duplicate':
    case 'ignored':
    case 'queued':
      return { state: 'done', outcome: result.outcome, key: result.key };
  }
}

const MIN_WAIT_MS = 1_000;

function unfinished({ id }: SealedDelivery, why: Outcome | string): WebhookError {
  return new WebhookError(
    'delivery_unfinished',
    `The delivery ${quoted(id, 200)} is not done yet: ${why}.`,
  );
}

/** How long a redrive waits for a job that is running, which is less than the receiver waits for it. */
const ACTIVE_MS = 3_000;

/**
 * Looks at a job until it is not running any more. A delivery is dead in the store a moment before the
 * queue has noted that its last attempt has ended: to redrive it then would do nothing.
 *
 * One that goes on running is left alone: it is being processed, or its worker has died, and then the
 * queue has it processed again.
 */
export async function afterActive<Found extends { readonly state: string }>(
  signal: AbortSignal,
  look: () => Promise<Found | null | undefined>,
): Promise<Found | null | undefined> {
  const giveUpAt = performance.now() + ACTIVE_MS;
  for (;;) {
    signal.throwIfAborted();
    const found = await look();
    if (found?.state !== 'active' || performance.now() > giveUpAt) return found;
    await pause(100);
  }
}

/** Where a worker is made, and not at its first job. */
export function checkDispatching(receiver: Dispatching): void {
  if (typeof receiver?.dispatch === 'function') return;
  throw new UsageError('receiver_invalid', 'A worker takes a receiver: createReceiver({ … }).');
}

import { unexplained } from '../errors/docs-link.js';
import { UsageError, WebhookError } from '../errors/errors.js';
import { quoted } from '../errors/log.js';
import { isOurs } from '../errors/text.js';
import type { SealedDelivery } from '../request/delivery.js';
import type { Outcome, Result } from '../request/outcome.js';
import { pause } from '../runtime/timing.js';
import { jobInvalid, readJob } from './job.js';

/** The part of a receiver that a queue's worker uses. */
export interface Dispatching {
  dispatch(delivery: SealedDelivery, options: { readonly lastAttempt: boolean }): Promise<Result>;
  /** Fires when the receiver closes. Default: the worker does not notice. */
  readonly closing?: AbortSignal | undefined;
}

/**
 * The action of a queue on a job.
 *
 * - `done`: remove the job. `key` is the key that the delivery was processed under, if it was processed. It may
 *   differ from the key in the job, which anyone with access to the queue can write.
 * - `retry`: the attempt failed. Count it, and retry the job after a growing pause. If `error` has the code
 *   `job_invalid`, the job holds no delivery, and a retry cannot help.
 * - `wait`: the job could not be tried, because another worker is processing the delivery or the store is down.
 *   Retry it after `retryAfterMs`, at least a second, and do not count the attempt.
 *
 * Each `error` states the reason, names the delivery, and holds nothing of its payload.
 */
export type JobResult =
  | { readonly state: 'done'; readonly outcome: Outcome; readonly key: string | undefined }
  | { readonly state: 'retry'; readonly error: WebhookError }
  | { readonly state: 'wait'; readonly retryAfterMs: number; readonly error: WebhookError };

/**
 * Processes a job from a queue, and returns what the queue has to do with it. Call it in your own worker. The
 * receiver verifies the delivery again, claims it, and runs its handlers. A delivery that does not fit its event
 * becomes a dead letter at once.
 *
 * @param job - A job that `toJob` made, or anything else from the queue.
 * @param options.isLast - Whether this is the last attempt. A delivery that fails in it becomes a dead letter in
 *   the store; if the store is not durable, the result is still `retry`, and the queue has to keep the job.
 * @throws {UsageError} `receiver_invalid` or `option_invalid`, and nothing else.
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
      'runJob() needs to know whether this is the last attempt: runJob(receiver, job, { isLast: … }).',
    );
  }
  const delivery = readJob(job);
  if (!delivery) return { state: 'retry', error: jobInvalid() };
  try {
    return await runDelivery(receiver, delivery, options);
  } catch (error) {
    // A new error: a foreign error may carry anything, such as the payload.
    const why = isOurs(error) ? unexplained(error.message) : 'it could not be read';
    return { state: 'retry', error: unfinished(delivery, why) };
  }
}

/** Works like {@link runJob} for a delivery that was read from its job. Errors of the receiver pass through. */
export async function runDelivery(
  receiver: Dispatching,
  delivery: SealedDelivery,
  { isLast }: { readonly isLast: boolean },
): Promise<JobResult> {
  const result = await receiver.dispatch(delivery, { lastAttempt: isLast });
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
    // The delivery is a dead letter in the store by now, where the operator lists and redrives it.
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

/** How long a redrive waits for a running job: less than the receiver waits for the redrive. */
const ACTIVE_MS = 3_000;

/**
 * Polls a job until it is no longer running. A delivery is dead in the store a moment before the queue has
 * recorded the end of its last attempt, and a redrive in between would have no effect.
 *
 * A job that goes on running is left alone: either a worker is processing it, or its worker has died, and the
 * queue will run it again.
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

/** Checks the receiver of a worker, so that a mistake shows when the worker is made, not at its first job. */
export function checkDispatching(receiver: Dispatching): void {
  if (typeof receiver?.dispatch === 'function') return;
  throw new UsageError('receiver_invalid', 'A worker needs a receiver: createReceiver({ … }).');
}

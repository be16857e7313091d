import { UsageError, WebhookError } from '../errors/errors.js';
import type { SealedDelivery } from '../request/delivery.js';
import { fromBase64, toBase64 } from '../runtime/base64.js';
import { isBytes } from '../runtime/bytes.js';

/** A delivery as the data of a job, which a queue can store as JSON. */
export interface Job {
  /** The version of this format, because a worker may be older than a job. */
  readonly v: 1;
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly receivedAt: number;
  /** The raw body, in base64. */
  readonly body: string;
  /** The proof by which the worker verifies the body. */
  readonly proof?: string;
  readonly traceparent?: string;
}

/**
 * Converts a delivery to a job, which a queue can store as JSON. A job is about a third larger than the body of
 * its delivery, and as confidential as the delivery.
 *
 * @throws {UsageError} `delivery_invalid` if the argument is not a delivery.
 *
 * @example
 * const enqueue = async (delivery: SealedDelivery, { key }: HandOffOptions) => {
 *   await jobs.add(key, toJob(delivery));
 *   return { id: key };
 * };
 */
export function toJob({ body, proof, traceparent, ...delivery }: SealedDelivery): Job {
  const { key, scope, id, event, receivedAt } = delivery;
  if (!isBytes(body)) {
    throw new UsageError(
      'delivery_invalid',
      "toJob() takes a sealed delivery: the one that a receiver's queue gets, or one from seal().",
    );
  }
  return {
    ...{ v: 1, key, scope, id, event, receivedAt, body: toBase64(body) },
    ...(proof === undefined ? {} : { proof }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/**
 * Returns the delivery of a job that {@link toJob} made. The delivery is not verified yet: anyone who can write to
 * the queue may have forged it. `receiver.dispatch` and {@link runJob} verify it before any handler runs.
 *
 * @throws {WebhookError} `job_invalid` if {@link toJob} did not make the job, or a newer version made it.
 *
 * @example
 * jobs.process((job) => {
 *   const { id, event } = fromJob(job);
 *   log(id, event);
 * });
 */
export function fromJob(job: unknown): SealedDelivery {
  const delivery = readJob(job);
  if (!delivery) throw jobInvalid();
  return delivery;
}

/** Works like {@link fromJob}, but returns `undefined` for an invalid job. */
export function readJob(job: unknown): SealedDelivery | undefined {
  if (!isJob(job)) return undefined;
  const { key, scope, id, event, receivedAt, proof, traceparent } = job;
  try {
    return { key, scope, id, event, receivedAt, body: fromBase64(job.body), proof, traceparent };
  } catch {
    // Without Buffer, a body that is not base64 throws.
    return undefined;
  }
}

export function jobInvalid(): WebhookError {
  return new WebhookError(
    'job_invalid',
    'This job holds no delivery of this library, or one of another version. Use a queue for deliveries only, ' +
      'and deploy a new version to its worker before the receiver.',
  );
}

const KEY = /^[\da-f]{64}$/;

function isJob(data: unknown): data is Job {
  if (typeof data !== 'object' || data === null) return false;
  const { v, key, receivedAt, proof, traceparent, ...rest } = data as Partial<
    Record<keyof Job, unknown>
  >;
  return (
    v === 1 &&
    // A key of another form would fail in the store at every attempt, as if the store were down.
    typeof key === 'string' &&
    KEY.test(key) &&
    isTime(receivedAt) &&
    [proof, traceparent].every((text) => text === undefined || typeof text === 'string') &&
    (['scope', 'id', 'event', 'body'] as const).every((name) => typeof rest[name] === 'string')
  );
}

/** Accepts any time that a Date can hold: no delivery may be lost because a clock was wrong. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

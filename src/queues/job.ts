import { UsageError, WebhookError } from '../errors.js';
import { isBytes } from '../request/bytes.js';
import type { SealedDelivery } from '../request/delivery.js';
import { fromBase64, toBase64 } from '../stores/base64.js';

/** A delivery as the data of a job: safe to keep as JSON. */
export interface Job {
  /** The version of this format: a worker may be older than what it is given. */
  readonly v: 1;
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly receivedAt: number;
  /** The raw body, in base64. */
  readonly body: string;
  /** By what the worker proves the body. */
  readonly proof?: string;
  readonly traceparent?: string;
}

/**
 * Makes of a delivery what a queue can keep as JSON, about a third larger than its body. What it holds is
 * as confidential as the delivery.
 *
 * @throws {UsageError} `delivery_invalid` where it is no delivery.
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
      'toJob() takes a delivery as the queue of a receiver is given it, or seal() makes it.',
    );
  }
  return {
    ...{ v: 1, key, scope, id, event, receivedAt, body: toBase64(body) },
    ...(proof === undefined ? {} : { proof }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/**
 * The delivery of a job, as it was given to {@link toJob}. Whoever can write to the queue may have made it
 * up: `receiver.dispatch` and {@link runJob} prove it before anything runs.
 *
 * @throws {WebhookError} `job_invalid` where it is not what {@link toJob} made, or a newer version did.
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

/** {@link fromJob}, which gives nothing where it is no job. */
export function readJob(job: unknown): SealedDelivery | undefined {
  if (!isJob(job)) return undefined;
  const { key, scope, id, event, receivedAt, proof, traceparent } = job;
  return { key, scope, id, event, receivedAt, body: fromBase64(job.body), proof, traceparent };
}

export function jobInvalid(): WebhookError {
  return new WebhookError(
    'job_invalid',
    'This job holds no delivery of this library, or one of a newer version of it. ' +
      'Give the deliveries a queue of their own, and deploy the worker before what fills it.',
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
    // Of any other form it would fail in the store, each time anew and as if the store were down.
    typeof key === 'string' &&
    KEY.test(key) &&
    isTime(receivedAt) &&
    [proof, traceparent].every((text) => text === undefined || typeof text === 'string') &&
    (['scope', 'id', 'event', 'body'] as const).every((name) => typeof rest[name] === 'string')
  );
}

/** Any that a Date can hold: one that is wrong is the fault of a clock, and no delivery is lost over it. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

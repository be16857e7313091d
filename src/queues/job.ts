import { WebhookError } from '../errors.js';
import type { SealedDelivery } from '../request/delivery.js';
import { fromBase64, toBase64 } from '../stores/base64.js';

/** A delivery as the data of a job: JSON. */
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

export function toJob({ body, proof, traceparent, ...delivery }: SealedDelivery): Job {
  const { key, scope, id, event, receivedAt } = delivery;
  return {
    ...{ v: 1, key, scope, id, event, receivedAt, body: toBase64(body) },
    ...(proof === undefined ? {} : { proof }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** @throws {WebhookError} `job_invalid` where it is not what {@link toJob} made. */
export function fromJob(data: unknown): SealedDelivery {
  if (!isJob(data)) {
    throw new WebhookError(
      'job_invalid',
      'This job holds no delivery of this library, or one of a newer version of it. ' +
        'Give the deliveries a queue of their own, and deploy the worker before what fills it.',
    );
  }
  const { key, scope, id, event, receivedAt, proof, traceparent } = data;
  return { key, scope, id, event, receivedAt, body: fromBase64(data.body), proof, traceparent };
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

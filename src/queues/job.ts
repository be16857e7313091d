import type { SealedDelivery } from '../delivery.js';
import { WebhookError } from '../errors.js';
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
  readonly traceparent?: string;
}

export function toJob({ body, traceparent, ...delivery }: SealedDelivery): Job {
  const { key, scope, id, event, receivedAt } = delivery;
  const job = { v: 1, key, scope, id, event, receivedAt, body: toBase64(body) } as const;
  return traceparent === undefined ? job : { ...job, traceparent };
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
  const { key, scope, id, event, receivedAt, traceparent } = data;
  return { key, scope, id, event, receivedAt, body: fromBase64(data.body), traceparent };
}

function isJob(data: unknown): data is Job {
  if (typeof data !== 'object' || data === null) return false;
  const { v, receivedAt, traceparent, ...rest } = data as Partial<Record<keyof Job, unknown>>;
  return (
    v === 1 &&
    typeof receivedAt === 'number' &&
    (traceparent === undefined || typeof traceparent === 'string') &&
    (['key', 'scope', 'id', 'event', 'body'] as const).every(
      (name) => typeof rest[name] === 'string',
    )
  );
}

import { WebhookError } from '../../errors.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { fromJob, type Job, toJob } from '../job.js';

/** A job whose body was offloaded, being too large for a message: it names where the body is. */
export interface OffloadedJob extends Omit<Job, 'body'> {
  readonly offloaded: string;
}

/** What is sent to the queue. */
export type Message = Job | OffloadedJob;

/**
 * The largest message: 128 KB are 128,000 bytes of JSON, of which the platform takes about 100 for itself.
 */
const MAX_BYTES = 127_000;

const NO_BODY = new Uint8Array(0);
const encoder = new TextEncoder();

/** The delivery as a message; `undefined` where it is too large for one. */
export function toMessage(delivery: SealedDelivery): Job | undefined {
  // In base64 a body grows by a third: what cannot fit is not encoded at all.
  if (delivery.body.length > MAX_BYTES * 0.75) return undefined;
  const job = toJob(delivery);
  return encoder.encode(JSON.stringify(job)).length <= MAX_BYTES ? job : undefined;
}

export function toOffloadedJob(delivery: SealedDelivery, offloaded: string): OffloadedJob {
  const { body, ...job } = toJob({ ...delivery, body: NO_BODY });
  return { ...job, offloaded };
}

/**
 * @returns The delivery, whose body is under the name `offloaded` where there is one.
 * @throws {WebhookError} `job_invalid`
 */
export function fromMessage(data: unknown): {
  readonly delivery: SealedDelivery;
  readonly offloaded: string | undefined;
} {
  const offloaded = isOffloaded(data) ? data.offloaded : undefined;
  const delivery = fromJob(isOffloaded(data) ? { ...data, body: '' } : data);
  if (
    offloaded === undefined ||
    offloaded === delivery.key ||
    offloaded.startsWith(`${delivery.key}-`)
  ) {
    return { delivery, offloaded };
  }
  throw new WebhookError('job_invalid', 'This message names the body of another delivery.');
}

function isOffloaded(data: unknown): data is { readonly offloaded: string } {
  return (
    typeof data === 'object' &&
    data !== null &&
    'offloaded' in data &&
    typeof data.offloaded === 'string'
  );
}

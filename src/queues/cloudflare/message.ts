import { WebhookError } from '../../errors/errors.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { toUtf8 } from '../../runtime/bytes.js';
import { fromJob, type Job, toJob } from '../job.js';

/** A job without its body, which was too large for the message. `offloaded` is the body's name in the storage. */
export interface OffloadedJob extends Omit<Job, 'body'> {
  readonly offloaded: string;
}

/** The body of a queue message. */
export type Message = Job | OffloadedJob;

/**
 * The largest message. The platform's 128 KB are 128,000 bytes of JSON, of which it uses about 100 itself.
 */
const MAX_BYTES = 127_000;

const NO_BODY = new Uint8Array(0);

/** Converts a delivery to a message; `undefined` if it is too large. */
export function toMessage(delivery: SealedDelivery): Job | undefined {
  // Base64 makes a body a third larger. Do not encode bodies that cannot fit.
  if (delivery.body.length > MAX_BYTES * 0.75) return undefined;
  const job = toJob(delivery);
  return toUtf8(JSON.stringify(job)).length <= MAX_BYTES ? job : undefined;
}

export function toOffloadedJob(delivery: SealedDelivery, offloaded: string): OffloadedJob {
  const { body, ...job } = toJob({ ...delivery, body: NO_BODY });
  return { ...job, offloaded };
}

/**
 * Reads a message.
 *
 * @returns The delivery, and the name of its body if the body was offloaded.
 * @throws {WebhookError} `job_invalid`
 */
export function fromMessage(message: unknown): {
  readonly delivery: SealedDelivery;
  readonly offloaded: string | undefined;
} {
  const job: { offloaded?: unknown; parked?: unknown } =
    typeof message === 'object' && message ? message : {};
  // Version 0.1.0 called the body's name `parked`.
  const name = job.offloaded ?? job.parked;
  const offloaded = typeof name === 'string' ? name : undefined;
  const delivery = fromJob(offloaded === undefined ? message : { ...job, body: '' });
  if (
    offloaded === undefined ||
    offloaded === delivery.key ||
    offloaded.startsWith(`${delivery.key}-`)
  ) {
    return { delivery, offloaded };
  }
  throw new WebhookError('job_invalid', 'This message names the body of another delivery.');
}

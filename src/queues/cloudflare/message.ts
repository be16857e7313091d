import { WebhookError } from '../../errors.js';
import type { SealedDelivery } from '../../request/delivery.js';
import { fromJob, type Job, toJob } from '../job.js';

/** A job whose body is too large for a message: it names where the body is. */
export interface ParkedJob extends Omit<Job, 'body'> {
  readonly parked: string;
}

/** What is sent to the queue. */
export type Message = Job | ParkedJob;

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

export function toParkedJob(delivery: SealedDelivery, parked: string): ParkedJob {
  const { body, ...job } = toJob({ ...delivery, body: NO_BODY });
  return { ...job, parked };
}

/**
 * @returns The delivery, whose body is elsewhere if there is a name in `parked`.
 * @throws {WebhookError} `job_invalid`
 */
export function fromMessage(data: unknown): {
  readonly delivery: SealedDelivery;
  readonly parked: string | undefined;
} {
  const parked = isParked(data) ? data.parked : undefined;
  const delivery = fromJob(isParked(data) ? { ...data, body: '' } : data);
  if (parked === undefined || parked === delivery.key || parked.startsWith(`${delivery.key}-`)) {
    return { delivery, parked };
  }
  throw new WebhookError('job_invalid', 'This message names the body of another delivery.');
}

function isParked(data: unknown): data is { readonly parked: string } {
  return (
    typeof data === 'object' && data !== null && 'parked' in data && typeof data.parked === 'string'
  );
}

import type { SealedDelivery } from '../../request/delivery.js';
import { fromJob, type Job, toJob } from '../job.js';

/** What jsonb refuses: NUL, and half of a surrogate pair. */
const REFUSED = /[\0\p{Cs}]/u;

/** A job whose unsigned headers jsonb would refuse, as JSON within JSON. */
interface Wrapped {
  readonly json: string;
}

/** A delivery as jsonb holds it. */
export function toData(delivery: SealedDelivery): Job | Wrapped {
  const job = toJob(delivery);
  const texts = [job.id, job.event, job.scope, job.proof ?? '', job.traceparent ?? ''];
  // In JSON, both are escaped: and the escapes of escapes are plain text to jsonb.
  return texts.some((text) => REFUSED.test(text)) ? { json: JSON.stringify(job) } : job;
}

/** @throws {WebhookError} `job_invalid` where it is not what {@link toData} made. */
export function fromData(data: unknown): SealedDelivery {
  return fromJob(isWrapped(data) ? parse(data.json) : data);
}

function isWrapped(data: unknown): data is Wrapped {
  return (
    typeof data === 'object' && data !== null && 'json' in data && typeof data.json === 'string'
  );
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

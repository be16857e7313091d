import type { SealedDelivery } from '../../request/delivery.js';
import { type Job, toJob } from '../job.js';

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

/** The job, where it is what {@link toData} made; else whatever was in the queue. */
export function fromData(data: unknown): unknown {
  return isWrapped(data) ? parse(data.json) : data;
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

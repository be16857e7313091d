import type { SealedDelivery } from '../../request/delivery.js';
import { type Job, toJob } from '../job.js';

/** Characters that jsonb rejects: NUL, and half of a surrogate pair. */
const REFUSED = /[\0\p{Cs}]/u;

/** A job as JSON within JSON, because jsonb would reject its unsigned headers. */
interface Wrapped {
  readonly json: string;
}

/** Converts a delivery to data that jsonb accepts. */
export function toData(delivery: SealedDelivery): Job | Wrapped {
  const job = toJob(delivery);
  const texts = [job.id, job.event, job.scope, job.proof ?? '', job.traceparent ?? ''];
  // JSON escapes both. In JSON within JSON, the escapes are escaped too, and so plain text to jsonb.
  return texts.some((text) => REFUSED.test(text)) ? { json: JSON.stringify(job) } : job;
}

/** Unwraps the data of {@link toData}. Returns other data unchanged. */
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

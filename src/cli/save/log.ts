import { isJsonObject } from '../../schemas/values.js';
import { parseExact, stringifyExact } from '../../testing/exact-json.js';
import { type Saved, unsigned } from '../fixture-file.js';

/** A delivery whose address is known. */
export interface Addressed extends Saved {
  /** The path and query to which the provider sent it; `undefined` if the source does not say. */
  readonly path?: string | undefined;
  /** The parameters of the query whose values were replaced: `?token`. */
  readonly redactedQuery?: readonly string[];
}

/**
 * Reads the delivery in a webhook log of the provider's API (specification: Webhook log). A log holds the payload but
 * not its bytes, so the body is written as compact JSON; its numbers stay as they are.
 *
 * @returns `undefined` if the bytes are not a log.
 */
export function readLog(bytes: Uint8Array): Addressed | undefined {
  const log = parse(bytes);
  if (!isJsonObject(log) || !isJsonObject(log.payload) || !('response_code' in log))
    return undefined;
  const { id, event, payload, url } = log;
  if (typeof id !== 'string' || typeof event !== 'string') return undefined;
  const body = new TextEncoder().encode(stringifyExact(payload));
  return { ...unsigned(event, id, body, `From the webhook log ${id}`), path: toPath(url) };
}

function toPath(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

import { isJsonObject } from '../../schemas/values.js';
import { parseExact, stringifyExact } from '../../testing/exact-json.js';
import { type Saved, unsigned } from '../fixture-file.js';

/**
 * Reads the delivery in a webhook log of the provider's API (specification: Webhook log). A log holds the payload but
 * not its bytes, so the body is written as compact JSON; its numbers stay as they are.
 *
 * @returns `undefined` if the bytes are not a log.
 */
export function readLog(bytes: Uint8Array): Saved | undefined {
  const log = parse(bytes);
  if (!isJsonObject(log) || !isJsonObject(log.payload) || !('response_code' in log))
    return undefined;
  const { id, event, payload } = log;
  if (typeof id !== 'string' || typeof event !== 'string') return undefined;
  const body = new TextEncoder().encode(stringifyExact(payload));
  return unsigned(event, id, body, `From the webhook log ${id}`);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

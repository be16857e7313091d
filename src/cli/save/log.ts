import { isJsonObject } from '../../schemas/json.js';
import { parseExact, stringifyExact } from '../../testing/exact-json.js';
import type { Saved } from '../fixture-file.js';

/**
 * The delivery of a webhook log, as the provider's API gives it (specification: Webhook log). A log holds what was
 * sent and not its bytes, so it is written as compact JSON; its numbers stay as they are.
 *
 * @returns `undefined` where it is no log.
 */
export function readLog(bytes: Uint8Array): Saved | undefined {
  const log = parse(bytes);
  if (!isJsonObject(log) || !isJsonObject(log.payload) || !('response_code' in log))
    return undefined;
  const { id, event, payload } = log;
  if (typeof id !== 'string' || typeof event !== 'string') return undefined;
  return {
    event,
    description: `Of the webhook log ${id}`,
    method: 'POST',
    headers: [
      ['Content-Type', 'application/json'],
      ['X-Service-Event', event],
      ['X-Service-Webhook', id],
    ],
    body: new TextEncoder().encode(stringifyExact(payload)),
    signing: 'resign',
    redacted: [],
    expect: undefined,
  };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

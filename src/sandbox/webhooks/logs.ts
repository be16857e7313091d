import type { Account } from '../state/account.js';
import type { KeptWebhookLog } from '../state/kinds.js';
import { newId } from '../trade/ids.js';
import type { Market } from '../trade/market.js';
import { findWaiting, isDynamicCall } from './dynamic-call.js';
import { retryLimit } from './retry-schedule.js';

/** Writes the log of a webhook that is to be sent (specification: Webhook log). */
export function openLog(
  { account, unknowns }: Pick<Market, 'account' | 'unknowns'>,
  webhook: Pick<KeptWebhookLog, 'event' | 'url' | 'payload' | 'endpoint_id'>,
): KeptWebhookLog {
  const dates = account.clock.dates();
  return account.webhookLogs.put({
    id: newId('whl'),
    ...webhook,
    response: null,
    response_code: 0,
    response_headers: null,
    retries: 0,
    retry_limit: retryLimit(unknowns),
    next_retry_at: null,
    ...dates,
  });
}

/** Returns whether the first attempt has no result yet. */
export function isPending({ response_code, response }: KeptWebhookLog): boolean {
  return response_code === 0 && response === null;
}

/** Returns whether another attempt is to come. */
export function isOpen(log: KeptWebhookLog): boolean {
  return isPending(log) || log.next_retry_at !== null;
}

/** Returns why a webhook is no longer needed; `undefined` if it still is. */
export function whyUnwanted(account: Account, log: KeptWebhookLog): string | undefined {
  if (isDynamicCall(log)) {
    return findWaiting(account, log) ? undefined : 'its order no longer needs goods';
  }
  if (log.endpoint_id === null) return undefined;
  const endpoint = account.webhookEndpoints.get(log.endpoint_id);
  if (!endpoint) return 'its endpoint was deleted';
  return endpoint.enabled ? undefined : 'its endpoint is disabled';
}

/** Closes the log of a webhook that is no longer needed. */
export function dropLog(account: Account, log: KeptWebhookLog, reason: string): void {
  account.webhookLogs.put({
    ...log,
    response: log.response ?? `Not sent: ${reason}.`,
    next_retry_at: null,
    updated_at: account.clock.timestamp(),
  });
}

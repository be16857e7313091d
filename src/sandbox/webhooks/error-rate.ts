import type { Account } from '../state/account.js';
import { isOpen } from './logs.js';

/** An endpoint is disabled if `MOST` of its `LAST` last webhooks were given up. */
const LAST = 20;
const MOST = 10;

/**
 * Disables a webhook endpoint if its error rate is high (specification: States and transitions). The
 * specification does not show how high. The sandbox disables an endpoint when half of its last 20 webhooks were
 * given up.
 */
export function disableWhereFailing(account: Account, endpointId: string): void {
  const endpoint = account.webhookEndpoints.get(endpointId);
  if (!endpoint?.enabled) return;
  let seen = 0;
  let failed = 0;
  for (const log of account.webhookLogs) {
    if (log.endpoint_id !== endpointId || isOpen(log)) continue;
    seen += 1;
    if (log.response_code < 200 || log.response_code > 299) failed += 1;
    if (seen === LAST) break;
  }
  if (seen < LAST || failed < MOST) return;
  const updated_at = account.clock.timestamp();
  account.webhookEndpoints.put({ ...endpoint, enabled: false, updated_at });
}

import type { Account } from '../state/account.js';
import { isOpen } from './logs.js';

/** Of so many of an endpoint's last webhooks, so many may not have been given up. */
const LAST = 20;
const MOST = 10;

/**
 * Disables a webhook endpoint whose error rate is high (specification: States and transitions). How high, the
 * specification does not show: here, where half of its last 20 webhooks were given up.
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

import { toTimestamp } from '../clock.js';
import type { KeptWebhookLog } from '../state/kinds.js';
import { deliver } from '../trade/complete.js';
import type { Market } from '../trade/market.js';
import type { Result } from './attempt.js';
import { findWaiting, isDynamicCall, toGoods } from './dynamic-call.js';
import { disableWhereFailing } from './error-rate.js';
import { isPending } from './logs.js';
import { pauseAfter } from './retry-schedule.js';

/** The most characters of an answer that a log keeps. */
const KEPT_LENGTH = 64 * 1024;

/**
 * Stores the result of an attempt in its log, together with its consequences: the time of the next attempt, the
 * goods of the order, and the disabling of an endpoint that fails too often.
 */
export function settle(market: Market, before: KeptWebhookLog, result: Result): KeptWebhookLog {
  const { account, unknowns } = market;
  const isAnswered = result.kind === 'answered';
  const retries = before.retries + (isPending(before) ? 0 : 1);
  const pauseMs = hasSucceeded(before, result)
    ? undefined
    : pauseAfter(result, { ...before, retries }, unknowns);
  return account.transact(() => {
    const log = account.webhookLogs.put({
      ...before,
      response: isAnswered ? result.text.slice(0, KEPT_LENGTH) : result.reason,
      response_code: isAnswered ? result.code : 0,
      response_headers: isAnswered ? result.headers : null,
      retries,
      next_retry_at: pauseMs === undefined ? null : toTimestamp(account.clock.now() + pauseMs),
      updated_at: account.clock.timestamp(),
    });
    if (isDynamicCall(log)) handOver(market, log, result);
    else if (log.endpoint_id !== null && pauseMs === undefined) {
      disableWhereFailing(account, log.endpoint_id);
    }
    return log;
  });
}

function hasSucceeded(log: KeptWebhookLog, result: Result): boolean {
  if (isDynamicCall(log)) return toGoods(result) !== undefined;
  return result.kind === 'answered' && result.code >= 200 && result.code < 300;
}

function handOver(market: Market, log: KeptWebhookLog, result: Result): void {
  const goods = toGoods(result);
  const order = findWaiting(market.account, log);
  if (order && goods !== undefined) deliver(market, order.id, goods);
}

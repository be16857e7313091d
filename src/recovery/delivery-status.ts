import { toTime } from '../schemas/values.js';
import type { WebhookLog } from '../schemas/webhook-log.js';
import type { AnsweredBy } from './log-reader.js';

/**
 * Why a delivery counts as missed. `refused`: answered with a status other than 2xx, and no retry will
 * follow. `unanswered`: no answer arrived. `foreign`: something else answered with a 2xx, such as a
 * maintenance page. `queued`: put into the receiver's queue, and not done. `edited`: the receiver answered it
 * with other content, perhaps that of another order. A server in between can get such an answer for a
 * delivery that never arrived.
 */
export type MissedReason = 'refused' | 'unanswered' | 'foreign' | 'edited' | 'queued';

/**
 * The meaning of a log entry. `done`: the receiver has answered it. `waiting`: its answer or a retry may
 * still arrive.
 */
export type DeliveryStatus = 'done' | 'waiting' | MissedReason;

/** The terms by which an entry is judged. Times are milliseconds. */
export interface StatusRules {
  readonly now: number;
  readonly pendingAfterMs: number;
  /** Whether the provider still sends. A disabled endpoint gets no retries. */
  readonly sends: boolean;
}

/** Returns what an entry of the provider's log means (specification: Webhook log). */
export function deliveryStatus(
  entry: WebhookLog,
  answeredBy: AnsweredBy,
  rules: StatusRules,
): Exclude<DeliveryStatus, 'queued'> {
  const { response_code: code = 0 } = entry;
  if (isSuccess(code) && answeredBy === 'own') return 'done';
  if (isSuccess(code)) return answeredBy === 'edited' ? 'edited' : 'foreign';
  if (isWaiting(entry, code, rules)) return 'waiting';
  return code === 0 ? 'unanswered' : 'refused';
}

export function isSuccess(code: number): boolean {
  return code >= 200 && code < 300;
}

function isWaiting(
  entry: WebhookLog,
  code: number,
  { now, pendingAfterMs, sends }: StatusRules,
): boolean {
  const { retries, retry_limit, next_retry_at } = entry;
  const isYoung = isYoungerThan(pendingAfterMs, entry, now);
  if (code === 0 && isYoung) return true;
  const isExhausted = retries !== undefined && retry_limit !== undefined && retries >= retry_limit;
  if (!sends || isExhausted) return false;
  // A retry may be late. A retry that was due long ago will not arrive.
  return isYoung || now - timeOf(next_retry_at) < pendingAfterMs;
}

/** Returns whether an entry changed less than `ms` ago. */
export function isYoungerThan(
  ms: number,
  { updated_at, created_at }: Pick<WebhookLog, 'updated_at' | 'created_at'>,
  now: number,
): boolean {
  return now - timeOf(updated_at ?? created_at) < ms;
}

/** Returns a time in milliseconds; `-Infinity`, long ago, if it is not a valid date. */
function timeOf(time: string | null | undefined): number {
  const ms = toTime(time);
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

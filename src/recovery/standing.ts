import type { WebhookLog } from '../schemas/webhook-log.js';
import type { AnsweredBy } from './logged.js';

/**
 * Why a delivery counts as missed: `refused` by an answer that was no 2xx, with no retry ahead; `unanswered`;
 * or `foreign`, answered with a 2xx that was not the receiver's, such as that of a maintenance page. `queued`: put
 * into the receiver's queue, and not done.
 */
export type MissedReason = 'refused' | 'unanswered' | 'foreign' | 'queued';

/**
 * What an entry of the log means. `done`: the receiver has answered it. `edited`: the receiver has answered it
 * while its payload was another. `waiting`: its answer or a retry may still come.
 */
export type Standing = 'done' | 'edited' | 'waiting' | MissedReason;

/** By what an entry is judged. Times are milliseconds. */
export interface StandingRules {
  readonly now: number;
  readonly pendingAfterMs: number;
  /** Whether the provider still sends: to a disabled endpoint no retry comes. */
  readonly sends: boolean;
}

/** What an entry of the provider's log means (specification: Webhook log). */
export function standingOf(
  entry: WebhookLog,
  answeredBy: AnsweredBy,
  rules: StandingRules,
): Exclude<Standing, 'queued'> {
  const { response_code: code = 0 } = entry;
  const isSuccess = code >= 200 && code < 300;
  if (isSuccess && answeredBy !== 'foreign') return answeredBy === 'own' ? 'done' : 'edited';
  if (isSuccess) return 'foreign';
  if (isWaiting(entry, code, rules)) return 'waiting';
  return code === 0 ? 'unanswered' : 'refused';
}

function isWaiting(
  entry: WebhookLog,
  code: number,
  { now, pendingAfterMs, sends }: StandingRules,
): boolean {
  const { retries, retry_limit, next_retry_at } = entry;
  const isYoung = isYoungerThan(pendingAfterMs, entry, now);
  if (code === 0 && isYoung) return true;
  const isExhausted = retries !== undefined && retry_limit !== undefined && retries >= retry_limit;
  if (!sends || isExhausted) return false;
  // A retry may be late; one that was due long ago never came.
  return isYoung || now - timeOf(next_retry_at) < pendingAfterMs;
}

/** Whether it has changed since. */
export function isYoungerThan(
  ms: number,
  { updated_at, created_at }: Pick<WebhookLog, 'updated_at' | 'created_at'>,
  now: number,
): boolean {
  return now - timeOf(updated_at ?? created_at) < ms;
}

/** Long ago, where it cannot be read. */
function timeOf(time: string | null | undefined): number {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

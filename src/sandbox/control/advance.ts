import type { Market } from '../trade/market.js';
import { Refusal } from '../trade/refusal.js';

/** The end of time in a sandbox, early enough that the year of a later retry still has four digits. */
const END_OF_TIME = Date.UTC(9001, 0);

/**
 * Moves the time of an account ahead. First waits for the webhooks that are being sent, so that their retries
 * run on the way.
 *
 * @throws {Refusal} `parameter_invalid`, if `ms` is negative, or the time would be beyond the year 9000.
 */
export async function advance({ account, outbox }: Market, ms: number): Promise<void> {
  checkAdvance(account.clock.now(), ms);
  await outbox.idle();
  // Another request may have moved the time meanwhile.
  checkAdvance(account.clock.now(), ms);
  await account.clock.advance(ms);
}

/** @throws {Refusal} `parameter_invalid`, if `ms` is negative, or the time would be beyond the year 9000. */
export function checkAdvance(now: number, ms: number): void {
  if (ms < 0) throw new Refusal('parameter_invalid', 'ms has to be at least 0');
  if (now + ms < END_OF_TIME) return;
  throw new Refusal('parameter_invalid', 'ms has to lead to a time before the year 9001');
}

import type { Market } from '../trade/market.js';
import { ErrorAnswer } from './answers.js';

const MOST = 60;
const WINDOW_MS = 60_000;

/** The times of an account's latest requests, by its own clock. */
const latest = new WeakMap<Market, number[]>();

/**
 * Counts a request, if this deployment has a rate limit. The specification shows no threshold.
 *
 * @throws {ErrorAnswer} 429
 */
export function limitRate(market: Market): void {
  if (market.unknowns.limits === 'none') return;
  const { clock } = market.account;
  const now = clock.now();
  const times = (latest.get(market) ?? []).filter((time) => time > now - WINDOW_MS);
  latest.set(market, times);
  const [first = now] = times;
  if (times.length >= MOST) {
    const seconds = Math.ceil((first + WINDOW_MS - now) / 1000);
    // Without a timer, a fast clock would stand still, and would never let the account in again.
    if (clock.mode === 'fast') clock.setTimer(first + WINDOW_MS, () => {});
    throw new ErrorAnswer(429, { headers: { 'retry-after': String(seconds) } });
  }
  times.push(now);
}

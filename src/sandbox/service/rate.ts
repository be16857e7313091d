import type { Market } from '../trade/market.js';
import { ErrorAnswer } from './answers.js';

const MOST = 60;
const WINDOW_MS = 60_000;

/** When the latest requests of an account came, in its own time. */
const latest = new WeakMap<Market, number[]>();

/**
 * Counts a request, where there is a limit (a threshold is not shown in the specification).
 *
 * @throws {ErrorAnswer} 429
 */
export function limitRate(market: Market): void {
  if (market.unknowns.limits === 'none') return;
  const now = market.account.clock.now();
  const times = (latest.get(market) ?? []).filter((time) => time > now - WINDOW_MS);
  latest.set(market, times);
  const [first = now] = times;
  if (times.length >= MOST) {
    const seconds = Math.ceil((first + WINDOW_MS - now) / 1000);
    throw new ErrorAnswer(429, { headers: { 'retry-after': String(seconds) } });
  }
  times.push(now);
}

import { html } from 'hono/html';
import type { KeptOrder } from '../state/kinds.js';
import { toText, toUnits } from '../trade/money.js';
import type { Html } from './page.js';

/** Formats an amount, such as `€9.90`. */
export function formatPrice(amount: string, currency: string): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: 8,
  });
  // Intl formats decimal text exactly, not as the nearest double.
  return format.format(amount as `${number}`);
}

/** Returns the amount that is still owed, in the order's currency. */
export function owedOf({ shown, received }: KeptOrder): string {
  const owed = toUnits(shown.value) - toUnits(received);
  return toText(owed > 0n ? owed : 0n);
}

/** Formats hundred-millionths as coins, such as `0.00016500`. */
export function formatCoins(satoshis: number): string {
  return (satoshis / 100_000_000).toFixed(8);
}

/** Formats a timestamp of the service, to the second. */
export function formatTime(timestamp: string): Html {
  const second = timestamp.slice(0, 19);
  return html`<time datetime="${second}Z">${second.replace('T', ', ')} UTC</time>`;
}

/** Formats a duration, such as `30 days`. */
export function formatDuration(seconds: number): string {
  const [count, unit] =
    seconds % 86_400 === 0
      ? [seconds / 86_400, 'day']
      : seconds % 3_600 === 0
        ? [seconds / 3_600, 'hour']
        : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

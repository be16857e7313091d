import type { KeptOrder } from '../state/kinds.js';
import { toText, toUnits } from '../trade/money.js';

/** Such as `€9.90`. */
export function formatPrice(amount: string, currency: string): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: 8,
  });
  // A decimal text is formatted as it is, and not as the nearest double.
  return format.format(amount as `${number}`);
}

/** What is still to be paid, in the order's currency. */
export function owedOf({ shown, received }: KeptOrder): string {
  const owed = toUnits(shown.value) - toUnits(received);
  return toText(owed > 0n ? owed : 0n);
}

/** Such as `0.00016500`: hundred-millionths as whole coins. */
export function formatCoins(satoshis: number): string {
  return (satoshis / 100_000_000).toFixed(8);
}

/** Such as `30 days`. */
export function formatDuration(seconds: number): string {
  const [count, unit] =
    seconds % 86_400 === 0
      ? [seconds / 86_400, 'day']
      : seconds % 3_600 === 0
        ? [seconds / 3_600, 'hour']
        : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

import { decimal } from '../../schemas/values.js';

/** The decimals of calculated amounts, as many as a bitcoin has. */
const DECIMALS = 8;
const UNIT = 10n ** BigInt(DECIMALS);

/** Converts an amount to hundred-millionths; for bitcoin, these are satoshis. */
export function toUnits(amount: number | string): bigint {
  const [, sign = '', whole = '0', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal.parse(amount)) ?? [];
  const units = BigInt(whole + fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS));
  return sign === '-' ? -units : units;
}

/** Formats hundred-millionths as decimal text with at least two decimals. */
export function toText(units: bigint): string {
  const text = String(units < 0n ? -units : units).padStart(DECIMALS + 1, '0');
  const fraction = text.slice(-DECIMALS).replace(/0{1,6}$/, '');
  return `${units < 0n ? '-' : ''}${text.slice(0, -DECIMALS)}.${fraction}`;
}

/** Converts an amount to another currency, truncated to whole units. */
export function convert(units: bigint, rate: bigint): bigint {
  return (units * rate) / UNIT;
}

/** Returns how much of something an amount buys at a price. */
export function divide(units: bigint, price: bigint): bigint {
  return (units * UNIT) / price;
}

/** Returns the number of decimals of a currency, such as 2 for EUR and 0 for JPY. */
export function decimalsOf(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/** Returns whether an amount has no more decimals than its currency. */
export function isWhole(units: bigint, currency: string): boolean {
  return units % 10n ** BigInt(DECIMALS - decimalsOf(currency)) === 0n;
}

/** Rounds an amount to cents. */
export function toCents(units: bigint): bigint {
  const cent = UNIT / 100n;
  return ((units + cent / 2n) / cent) * cent;
}

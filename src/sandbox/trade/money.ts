import { decimal } from '../../schemas/decimal.js';

/** As many decimals as amounts are reckoned with: those of a bitcoin. */
const DECIMALS = 8;
const UNIT = 10n ** BigInt(DECIMALS);

/** An amount in hundred-millionths: of a bitcoin, satoshis. */
export function toUnits(amount: number | string): bigint {
  const [, sign = '', whole = '0', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal.parse(amount)) ?? [];
  const units = BigInt(whole + fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS));
  return sign === '-' ? -units : units;
}

/** Decimal text with at least two decimals. */
export function toText(units: bigint): string {
  const text = String(units < 0n ? -units : units).padStart(DECIMALS + 1, '0');
  const fraction = text.slice(-DECIMALS).replace(/0{1,6}$/, '');
  return `${units < 0n ? '-' : ''}${text.slice(0, -DECIMALS)}.${fraction}`;
}

/** An amount in another currency, rounded to whole units. */
export function convert(units: bigint, rate: bigint): bigint {
  return (units * rate) / UNIT;
}

/** What an amount is worth of something that has a price. */
export function divide(units: bigint, price: bigint): bigint {
  return (units * UNIT) / price;
}

/** Rounded to cents. */
export function toCents(units: bigint): bigint {
  const cent = UNIT / 100n;
  return ((units + cent / 2n) / cent) * cent;
}

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

/**
 * The currencies that do not have two decimals by ISO 4217. Intl is no source for them: its decimals are those of
 * daily use, such as 0 for HUF, and differ between runtimes.
 */
const OTHER_DECIMALS = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
] as const;
const otherDecimals = new Map(
  OTHER_DECIMALS.flatMap(([decimals, codes]) =>
    codes.split(' ').map((code) => [code, decimals] as const),
  ),
);

/** Returns the number of decimals of a currency by ISO 4217, such as 2 for EUR and 0 for JPY. */
export function decimalsOf(currency: string): number {
  return otherDecimals.get(currency.toUpperCase()) ?? 2;
}

/** The codes of ISO 4217 that Intl does not list, because they are of no or of little daily use. */
const NOT_IN_INTL = ['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW', 'VED'];
const currencies = new Set([...Intl.supportedValuesOf('currency'), ...NOT_IN_INTL]);

/** Returns whether a text is a currency code of ISO 4217, in upper or lower case. */
export function isCurrency(code: string): boolean {
  return currencies.has(code.toUpperCase());
}

/**
 * Returns what is wrong with an amount that has more decimals than its currency; `undefined` for any other amount.
 * The amount has to be as it was sent: {@link toUnits} drops decimals.
 */
export function findDecimalsFault(amount: number | string, currency: string): string | undefined {
  const [, fraction = ''] = decimal.parse(amount).split('.');
  const most = decimalsOf(currency);
  if (!/[1-9]/.test(fraction.slice(most))) return undefined;
  const hint =
    fraction.length > DECIMALS ? '. Arithmetic with floats adds decimals: round its result' : '';
  return `have at most ${most} decimals, as ${currency} has${hint}`;
}

/** Rounds an amount to cents. */
export function toCents(units: bigint): bigint {
  const cent = UNIT / 100n;
  return ((units + cent / 2n) / cent) * cent;
}

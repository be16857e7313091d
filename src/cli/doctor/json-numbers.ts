/** Writes the digits of a number in another way. Returns the same digits if nothing changes. */
export type Rewrite = (digits: string) => string;

export const isWhole = (digits: string) => /^-?\d+$/.test(digits);

/** When a language writes numbers with exponents, and how. */
interface FloatFormat {
  readonly low: number;
  readonly high: number;
  readonly point?: true;
  readonly pad?: number;
  readonly e?: 'E';
  readonly plus?: '';
  readonly precision?: number;
}

/** Returns a function that writes fractions and very large numbers as one language does. */
function floats(format: FloatFormat): Rewrite {
  const { low, high, point, pad = 1, e = 'e', plus = '+', precision } = format;
  return (digits) => {
    const number = Number(digits);
    if (isWhole(digits) && Math.abs(number) < 1e15) return digits;
    const places = precision === undefined ? undefined : precision - 1;
    const [mantissa = '', exponent = 0] = number.toExponential(places).split('e');
    const power = Number(exponent);
    if (power >= low && power < high) return toDecimal(`${mantissa}e${power}`);
    const head = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
    const sign = power < 0 ? '-' : plus;
    const written = String(Math.abs(power)).padStart(pad, '0');
    return `${point && !head.includes('.') ? `${head}.0` : head}${e}${sign}${written}`;
  };
}

/** Writes digits without an exponent. */
function toDecimal(digits: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d*?)0*)?[eE]([+-]?\d{1,3})$/.exec(digits) ?? [];
  if (exponent === '') return digits;
  const point = whole.length + Number(exponent);
  const all = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, '0');
  const at = Math.max(1, point);
  return `${sign}${all.slice(0, at)}${at < all.length ? `.${all.slice(at)}` : ''}`;
}

const toPlaces =
  (places: number): Rewrite =>
  (digits) => {
    const [whole = '', fraction = ''] = digits.split('.');
    if (!/^-?\d+(?:\.\d+)?$/.test(digits) || fraction.length > places) return digits;
    return `${whole}.${fraction.padEnd(places, '0')}`;
  };

const JAVA = { low: -3, high: 7, point: true, e: 'E', plus: '' } as const;
const withPoint: Rewrite = (digits) => (isWhole(digits) ? `${digits}.0` : digits);
const asDoubleOfJava: Rewrite = (digits) =>
  withPoint(floats(JAVA)(isWhole(digits) ? `${digits}.0` : digits));

/** A way to write numbers. Its cost is about the logarithm of how many other ways are as likely. */
export type Written = readonly [written: string, Rewrite, cost: number];

/** How fractions and exponents are written. */
export const FRACTIONS: readonly Written[] = [
  ['19.9, as JSON.stringify does', floats({ low: -6, high: 21 }), 2],
  ['1e-07 or 1e+16, as Python does', floats({ low: -4, high: 16, pad: 2 }), 3],
  [
    '19.899999999999999, with 17 digits, as PHP does with serialize_precision = 17',
    floats({ low: -4, high: 17, point: true, precision: 17 }),
    3,
  ],
  ['1.0e-7, as PHP does', floats({ low: -4, high: 17, point: true }), 4],
  ['1.0e-07, as Ruby does', floats({ low: -4, high: 15, point: true, pad: 2 }), 4],
  ['0.0000001, without an exponent', floats({ low: -400, high: 400 }), 4],
  ['1.0E-7, as Java does', floats(JAVA), 4],
  ['1E-07, as .NET does', floats({ low: -5, high: 15, pad: 2, e: 'E' }), 5],
];

/** The ways in which an encoder writes whole numbers as fractions. */
export const WHOLES: readonly Written[] = [
  ['10.0', withPoint, 2],
  ['10.00, with two decimals', toPlaces(2), 3],
  ['1.0E7, as Java does', asDoubleOfJava, 5],
  ...[4, 6, 8].map((places): Written => [`10, with ${places} decimals`, toPlaces(places), 5]),
];

/** How many neighbours of a rounded number to try on each side. */
const MOST_NEIGHBOURS = 1024;

/** Returns the whole numbers beyond 2^53 that a double rounds to this one, so that it may have been any of them. */
export function neighboursOf(digits: string): readonly string[] {
  const isLong = /^-?\d{16,20}$|^-?\d\.\d+[eE]\+?1[5-9]$/.test(digits);
  const rounded = Number(digits);
  if (!isLong || Number.isSafeInteger(rounded)) return [];
  const near: string[] = [];
  for (let distance = 0n; distance <= MOST_NEIGHBOURS; distance += 1n)
    for (const one of [BigInt(rounded) + distance, BigInt(rounded) - distance])
      if (Number(one) === rounded && String(one) !== digits) near.push(String(one));
  return near;
}

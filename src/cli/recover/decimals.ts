/** A decimal as a whole number of units, each `10 ** -places`. */
interface Scaled {
  readonly units: bigint;
  readonly places: number;
}

/**
 * Adds up decimals exactly, with as many places as the longest of them has. Returns `undefined` if one is not a
 * decimal.
 */
export function addDecimals(decimals: readonly string[]): string | undefined {
  let sum: Scaled = { units: 0n, places: 0 };
  for (const decimal of decimals) {
    const one = readDecimal(decimal);
    if (!one) return undefined;
    const places = Math.max(sum.places, one.places);
    sum = { units: scale(sum, places) + scale(one, places), places };
  }
  return writeDecimal(sum);
}

function readDecimal(text: string): Scaled | undefined {
  const [, whole, fraction = ''] = /^(-?\d{1,30})(?:\.(\d{1,30}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return { units: BigInt(whole + fraction), places: fraction.length };
}

function scale({ units, places }: Scaled, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - places);
}

function writeDecimal({ units, places }: Scaled): string {
  const sign = units < 0n ? '-' : '';
  const digits = `${units < 0n ? -units : units}`.padStart(places + 1, '0');
  const at = digits.length - places;
  return sign + digits.slice(0, at) + (places > 0 ? `.${digits.slice(at)}` : '');
}

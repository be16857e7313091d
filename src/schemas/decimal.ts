import * as z from 'zod/mini';

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * An amount or a rate as decimal text, whether it came as text or as a number (specification:
 * Resources, Conventions). Text stays as it came; a number becomes the shortest decimal that reads
 * back as the same double. Never an exponent.
 */
export const decimal = z.pipe(
  z.custom<string | number>(
    (value) => (typeof value === 'string' || typeof value === 'number') && DECIMAL.test(`${value}`),
    'expected decimal',
  ),
  z.transform((value) => withoutExponent(String(value))),
);

function withoutExponent(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = DECIMAL.exec(text) ?? [];
  if (exponent === undefined) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

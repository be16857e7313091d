import * as z from 'zod/mini';

const PLAIN = /^-?\d+(?:\.\d+)?$/;
const WITH_EXPONENT = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d{1,3})$/i;

/**
 * An amount or a rate as decimal text, whether it came as text or as a number (specification:
 * Resources, Conventions). Text stays as it came; a number becomes the shortest decimal that reads
 * back as the same double. Never an exponent.
 */
export const decimal = z.transform((value, { issues }): string => {
  const text = typeof value === 'number' ? String(value) : value;
  const plain = typeof text === 'string' ? toPlain(text) : undefined;
  if (plain !== undefined) return plain;
  issues.push({ code: 'custom', message: 'expected decimal', input: value });
  return z.NEVER;
});

function toPlain(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  const [match, sign = '', whole = '', fraction = '', exponent] = WITH_EXPONENT.exec(text) ?? [];
  if (match === undefined) return undefined;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const ZEROS = /^(-?)0*(\d+?)(?:\.(\d*?)0*)?$/;

/** Whether two amounts are the same, however they are written: `10` and `10.00` are. */
export function isSameAmount(one: unknown, other: unknown): boolean {
  const [first, second] = [toShortest(one), toShortest(other)];
  return first !== undefined && first === second;
}

function toShortest(amount: unknown): string | undefined {
  const text = typeof amount === 'number' ? String(amount) : amount;
  const plain = typeof text === 'string' ? toPlain(text) : undefined;
  return plain?.replace(ZEROS, (_, sign, whole, fraction = '') => `${sign}${whole}.${fraction}`);
}

import { InvalidArgumentError } from 'commander';

/** A whole number, 0 or more. */
export function toNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be a whole number.');
}

/** A whole number, 1 or more. */
export function toCount(text: string): number {
  const count = toNumber(text);
  if (count >= 1) return count;
  throw new InvalidArgumentError('It has to be 1 or more.');
}

import { InvalidArgumentError } from 'commander';

/** Parses a whole number, 0 or more. */
export function toNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

/** Parses a whole number, 1 or more. */
export function toCount(text: string): number {
  const count = toNumber(text);
  if (count >= 1) return count;
  throw new InvalidArgumentError('Give 1 or more.');
}

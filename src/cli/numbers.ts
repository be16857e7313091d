import { InvalidArgumentError } from 'commander';
import { MAX_TIMER_MS } from '../errors/option-checks.js';

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

/** Parses milliseconds to wait. A timer of Node ends at once if it is set to more. */
export const toTimeout = upTo(MAX_TIMER_MS, toCount);

/** Parses a port to listen on; 0 is any free one. */
export const toPort = upTo(65_535, toNumber);

/** Parses how often to send a delivery. The command keeps a list of all copies in memory. */
export const toTimes = upTo(1_000_000, toCount);

function upTo(most: number, parse: (text: string) => number): (text: string) => number {
  return (text) => {
    const number = parse(text);
    if (number <= most) return number;
    throw new InvalidArgumentError(`Give ${most} at most.`);
  };
}

import { InvalidArgumentError } from 'commander';
import { toTime } from '../schemas/values.js';

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
};

/** Parses a duration, such as `90s`, `5m`, `12h` or `7d`, to milliseconds. */
export function toDuration(text: string): number {
  const duration = readDuration(text);
  if (duration !== undefined) return duration;
  throw new InvalidArgumentError('Give a duration such as 90s, 5m, 12h or 7d.');
}

/** Parses how far back to look: a duration, or a date such as `2026-11-20` or `2026-11-20T08:00:00Z`. */
export function toSince(text: string): number | Date {
  const ago = readDuration(text);
  if (ago !== undefined) return ago;
  const date = readDate(text);
  if (date) return date;
  throw new InvalidArgumentError(
    'Give a duration such as 12h or 7d, or a date such as 2026-11-20 or 2026-11-20T08:00:00Z.',
  );
}

function readDuration(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  return number === undefined || unitMs === undefined ? undefined : Number(number) * unitMs;
}

/** Parses a date, such as `2026-11-20T08:00:00Z`. A time without an offset is in UTC. */
export function toDate(text: string): Date {
  const date = readDate(text);
  if (date) return date;
  throw new InvalidArgumentError('Give a date such as 2026-11-20T08:00:00Z.');
}

function readDate(text: string): Date | undefined {
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [];
  const date = new Date(toTime(text));
  if (day === undefined || Number.isNaN(date.getTime())) return undefined;
  // Date reads a day that does not exist, such as 30 February, as one of the next month.
  return new Date(day).toISOString().startsWith(day) ? date : undefined;
}

import * as z from 'zod/mini';

/** Text that not every runtime reads, such as `2017-04-20 03:11:22 UTC`. */
const WITH_BLANKS = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?) ?(UTC|Z|[+-]\d\d:?\d\d)$/;
/** Numbers from here on are milliseconds: as seconds, they would be in the year 5138. */
const MILLISECONDS = 1e11;

/** Milliseconds since 1970 of a time as text, or of a number of seconds; NaN for anything else. */
export function toTime(value: unknown): number {
  if (typeof value === 'number') return value < MILLISECONDS ? value * 1000 : value;
  return typeof value === 'string' ? Date.parse(toIso(value)) : Number.NaN;
}

/** A fraction of a second, in milliseconds and what is finer. */
const FRACTION = /(?<=:\d\d\.)(\d{3})(\d+)/;

/**
 * A time as text that sorts as times do: in UTC, and with the digits beyond the milliseconds, which a `Date` loses
 * (specification: Resources, Conventions). `undefined` for what is no time.
 */
export function toSortable(value: unknown): string | undefined {
  const [, , finer = ''] = (typeof value === 'string' && FRACTION.exec(value)) || [];
  const time = new Date(
    value instanceof Date
      ? value
      : toTime(typeof value === 'string' ? value.replace(FRACTION, '$1') : value),
  );
  const year = time.getUTCFullYear();
  // Other years are written with a sign and more digits, which sort otherwise.
  if (!(year >= 0 && year <= 9999)) return undefined;
  return time.toISOString().slice(0, -1) + finer.slice(0, 12).replace(/0+$/, '');
}

function toIso(text: string): string {
  const [match, date, time, zone = ''] = WITH_BLANKS.exec(text) ?? [];
  if (match === undefined) return text;
  const offset = zone === 'UTC' ? 'Z' : zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  return `${date}T${time}${offset}`;
}

/**
 * A time as ISO 8601 text (specification: Resources, Conventions), whether it came so, as seconds since 1970, or
 * as the text of earlier versions, which not every runtime reads. Any other text stays as it came.
 */
export const timestamp = z.transform((value, { issues }): string => {
  if (typeof value === 'string') return toIso(value);
  const time = new Date(toTime(value));
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  issues.push({ code: 'custom', message: 'expected time', input: value });
  return z.NEVER;
});

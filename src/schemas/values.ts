import * as z from 'zod/mini';

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A type that can be stored as JSON, interfaces included; `never` for a type that cannot, such as `Date`. */
export type Jsonable<T> = unknown extends T
  ? T
  : T extends Json | undefined | void
    ? T
    : T extends
          | ((...args: never[]) => unknown)
          | symbol
          | bigint
          | Date
          | Map<unknown, unknown>
          | Set<unknown>
      ? never
      : { [Key in keyof T]: JsonableField<Key, T[Key]> };

/**
 * A field of type `unknown` is taken from a record of unknown keys only: `cause` tells an `Error` from a record. One of
 * type `any` is taken anywhere.
 */
type JsonableField<Key, T> = unknown extends T
  ? string extends Key
    ? T
    : NonNullable<unknown>
  : Jsonable<T>;

/** A JSON object with unknown keys. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a field of a record; `undefined` if the record only inherits it from a polluted `Object.prototype`. */
export function fieldOf(record: JsonObject, name: string): unknown {
  return name in Object.prototype && !Object.hasOwn(record, name) ? undefined : record[name];
}

// Fields of all records share these: zod takes longer to make 80 schemas than to load the rest of this package.
export const text = /* @__PURE__ */ z.string();
export const nullableText = /* @__PURE__ */ z.nullable(text);
export const integer = /* @__PURE__ */ z.int();
export const nullableInteger = /* @__PURE__ */ z.nullable(integer);
export const flag = /* @__PURE__ */ z.boolean();

/** Accepts any JSON object unchanged. Never copies or walks it, so its depth does not matter. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected object');

/** Accepts any JSON value unchanged. */
export const anyJson = z.custom<Json>((value) => value !== undefined);

/** Times that some runtimes cannot parse, such as `2017-04-20 03:11:22 UTC`, or that have no offset. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:UTC|Z|([+-]\d\d)(?::?(\d\d))?)?$/;
/** Times that every machine reads alike: those with a zone or an offset, and dates of ISO 8601. */
const ZONED =
  /^\d{4}(?:-\d\d){0,2}$|(?:Z|:\d\d(?:\.\d+)? ?(?:[A-Z]{3,4}|[+-]\d\d:?\d\d)|(?:UTC|GMT)(?:[+-]\d\d:?\d\d)?)(?: \([^)]{0,50}\))?$/i;
/** Numbers from this one on are milliseconds: as seconds, they would be in the year 5138 or later. */
const MILLISECONDS = 1e11;

/**
 * Converts a time, as text, in seconds or as a `Date`, to milliseconds since 1970; NaN for anything else. A text without
 * an offset is in UTC, whatever the zone of the machine is.
 */
export function toTime(value: unknown): number {
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'number') return value < MILLISECONDS ? value * 1000 : value;
  if (typeof value !== 'string') return Number.NaN;
  const text = toIso(value);
  return Date.parse(ZONED.test(text) ? text : `${text} UTC`);
}

/** A fraction of a second: the milliseconds, then the finer digits. */
const FRACTION = /(?<=:\d\d\.)(\d{3})(\d+)/;

/**
 * Converts a time to text that sorts chronologically: in UTC, with the digits beyond the milliseconds, which a
 * `Date` loses (specification: Resources, Conventions). Returns `undefined` if the value is not a valid time.
 */
export function toSortable(value: unknown): string | undefined {
  const [, , finer = ''] = (typeof value === 'string' && FRACTION.exec(value)) || [];
  const time = new Date(toTime(typeof value === 'string' ? value.replace(FRACTION, '$1') : value));
  const year = time.getUTCFullYear();
  // Other years have a sign and more digits, so their text does not sort chronologically.
  if (!(year >= 0 && year <= 9999)) return undefined;
  return time.toISOString().slice(0, -1) + finer.slice(0, 12).replace(/0+$/, '');
}

function toIso(text: string): string {
  const [match, date, time, hours, minutes = '00'] = DATE_TIME.exec(text) ?? [];
  return match === undefined ? text : `${date}T${time}${hours ? `${hours}:${minutes}` : 'Z'}`;
}

/**
 * Reads a time as ISO 8601 text (specification: Resources, Conventions): from such text, from seconds since 1970,
 * or from the text of earlier versions, which some runtimes cannot parse. A time without an offset is in UTC. Any
 * other text stays unchanged.
 */
export const timestamp = z.transform((value, { issues }): string => {
  if (typeof value === 'string') return toIso(value);
  const time = new Date(toTime(value));
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  issues.push({ code: 'custom', message: 'expected time', input: value });
  return z.NEVER;
});

/** Returns whether a value is a number that JSON parsing may have rounded. */
export function isRounded(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

const PLAIN = /^-?\d+(?:\.\d+)?$/;
const WITH_EXPONENT = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d{1,3})$/i;

/**
 * Reads an amount or a rate, from text or a number, as decimal text without an exponent (specification: Resources,
 * Conventions). Decimal text stays unchanged; a number becomes the shortest decimal that parses to the same
 * double.
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

// The fraction is matched from its end: from its start, the time would grow with the square of the number of zeros.
const ZEROS = /^(-?)0*(\d+?)(?:\.(\d*[1-9])?0*)?$/;

/** Returns whether two amounts are equal in value, as `10` and `10.00` are. */
export function isSameAmount(one: unknown, other: unknown): boolean {
  const [first, second] = [toShortest(one), toShortest(other)];
  return first !== undefined && first === second;
}

function toShortest(amount: unknown): string | undefined {
  const text = typeof amount === 'number' ? String(amount) : amount;
  const plain = typeof text === 'string' ? toPlain(text) : undefined;
  return plain?.replace(ZEROS, (_, sign, whole, fraction = '') => `${sign}${whole}.${fraction}`);
}

// Enumerations stay open: values that the provider adds later are accepted, and editors offer the known ones.

export function openText<Known extends string>() {
  return z.custom<Known | (string & {})>((value) => typeof value === 'string', 'expected string');
}

export function openInteger<Known extends number>() {
  return z.custom<Known | (number & {})>(Number.isSafeInteger, 'expected integer');
}

/** Accepts integers and text: a code in one version of the provider may be a word in the next. */
export function openCode<Known extends number>() {
  return z.custom<Known | (number & {}) | (string & {})>(
    (value) => Number.isSafeInteger(value) || typeof value === 'string',
    'expected integer or string',
  );
}

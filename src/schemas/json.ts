import * as z from 'zod/mini';

/** Anything JSON can say. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** An object that can be kept as JSON, of an interface, too; `never` where it cannot, as with a `Date`. */
export type Jsonable<T> = T extends string | number | boolean | null | undefined | void
  ? T
  : T extends
        | ((...args: never[]) => unknown)
        | symbol
        | bigint
        | Date
        | Map<unknown, unknown>
        | Set<unknown>
    ? never
    : { [Key in keyof T]: Jsonable<T[Key]> };

/** A JSON object whose keys nobody has promised. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object kept as it came: not copied, not walked, however deep it is. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected object');

/** Anything that JSON can say, kept as it came. */
export const anyJson = z.custom<Json>((value) => value !== undefined);

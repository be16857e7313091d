import { UsageError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../schemas/json.js';
import { nameType } from './bytes.js';
import { hintAtPromise } from './promised.js';

/** What a body that holds more than its record is made of. All of it is signed. */
export interface Unwrapped {
  /** The event: a text, which is checked. Default: what the header says. */
  readonly event?: unknown;
  /** The id of the delivery: a text, which is checked. Default: what the header says. */
  readonly id?: unknown;
  /** The record, as JSON: what handlers get, once it has passed the schema of its event. */
  readonly payload: unknown;
}

/**
 * Takes a body apart. What it gives is signed, so it wins over the headers. `undefined`: the body is the record.
 *
 * @example
 * const unwrap: UnwrapFunction = ({ event, data }) => ({ event, payload: data });
 */
export type UnwrapFunction = (body: JsonObject) => Unwrapped | undefined;

/** How a body is taken apart. */
export type Unwrap = boolean | UnwrapFunction;

interface Named {
  readonly event: string | undefined;
  readonly id: string | undefined;
}

/** A body taken apart. */
export interface Parts extends Named {
  readonly record: unknown;
  /** Whether the header names another event than the body. */
  readonly contradicts: boolean;
}

/**
 * Takes the record out of parsed JSON, with what the body says of itself.
 *
 * @param header - What the headers claim.
 * @throws {UsageError} `unwrap_invalid`, and what a function of the user's throws.
 */
export function unwrapBody(json: unknown, unwrap: Unwrap, header: Named): Parts {
  const { event, id } = header;
  if (unwrap === true && isWrapped(json)) {
    const contradicts = event !== undefined && event !== json.event;
    return { event: event ?? json.event, id, record: json.data, contradicts };
  }
  const found = typeof unwrap === 'function' && isJsonObject(json) ? unwrap(json) : undefined;
  if (found === undefined) return { event, id, record: json, contradicts: false };
  const own = checkUnwrapped(found);
  return { event: own.event ?? event, id: own.id ?? id, record: own.record, contradicts: false };
}

function isWrapped(json: unknown): json is { event: string; data: JsonObject } {
  return isJsonObject(json) && typeof json.event === 'string' && isJsonObject(json.data);
}

function checkUnwrapped(found: unknown): Omit<Parts, 'contradicts'> {
  const { event, id, payload } = isJsonObject(found) ? found : {};
  if (payload !== undefined && isTextOrNone(event) && isTextOrNone(id))
    return { event, id, record: payload };
  throw new UsageError(
    'unwrap_invalid',
    'unwrap has to give { payload }, with an event and an id that are texts where there are any, or ' +
      `undefined, and gave ${describe(found)}${hintAtPromise(found)}.`,
  );
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '');
}

function describe(found: unknown): string {
  if (!isJsonObject(found)) return nameType(found);
  if (found.payload === undefined) return 'no payload';
  const name = isTextOrNone(found.event) ? 'id' : 'event';
  return `${nameType(found[name])} for the ${name}`;
}

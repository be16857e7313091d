import { UsageError } from '../errors/errors.js';
import { nameType } from '../runtime/bytes.js';
import { isJsonObject, type JsonObject } from '../schemas/values.js';
import { hintAtPromise } from './promised.js';

/** The parts of a body that contains more than its record. All of it is signed. */
export interface Unwrapped {
  /** The event: has to be a text. Default: the event header. */
  readonly event?: unknown;
  /** The id of the delivery: has to be a text. Default: the id header. */
  readonly id?: unknown;
  /** The record, as JSON. Handlers get it after it has passed the schema of its event. */
  readonly payload: unknown;
}

/**
 * Splits a body into its parts, which are signed and so take precedence over the headers. Return `undefined` if
 * the body itself is the record.
 *
 * @example
 * const unwrap: UnwrapFunction = ({ event, data }) => ({ event, payload: data });
 */
export type UnwrapFunction = (body: JsonObject) => Unwrapped | undefined;

/** The `unwrap` option. */
export type Unwrap = boolean | UnwrapFunction;

interface Named {
  readonly event: string | undefined;
  readonly id: string | undefined;
}

/** The parts of a body. */
export interface Parts extends Named {
  readonly record: unknown;
  /** Whether the header and the body name different events. */
  readonly contradicts: boolean;
}

/**
 * Takes the record, the event and the id out of parsed JSON.
 *
 * @param header - The event and the id that the headers claim.
 * @param size - The size of the body, in bytes.
 * @throws {UsageError} `unwrap_invalid`, and whatever a function of the user throws.
 */
export function unwrapBody(json: unknown, unwrap: Unwrap, header: Named, size: number): Parts {
  const { event, id } = header;
  if (unwrap === true && isWrapped(json)) {
    const contradicts = event !== undefined && event !== json.event;
    return { event: event ?? json.event, id, record: json.data, contradicts };
  }
  const found = typeof unwrap === 'function' && isJsonObject(json) ? unwrap(json) : undefined;
  if (found === undefined) return { event, id, record: json, contradicts: false };
  const own = checkUnwrapped(found, size);
  return { event: own.event ?? event, id: own.id ?? id, record: own.record, contradicts: false };
}

function isWrapped(json: unknown): json is { event: string; data: JsonObject } {
  return isJsonObject(json) && typeof json.event === 'string' && isJsonObject(json.data);
}

function checkUnwrapped(found: unknown, size: number): Omit<Parts, 'contradicts'> {
  const { event, id, payload } = isJsonObject(found) ? found : {};
  if (payload !== undefined && isTextOrNone(event) && isTextOrNone(id)) {
    checkFinite(payload, 4 * size + 1_000);
    return { event, id, record: payload };
  }
  throw new UsageError(
    'unwrap_invalid',
    'unwrap has to return { payload }, optionally with non-empty texts as event and id, or ' +
      `undefined, but returned ${describe(found)}${hintAtPromise(found)}.`,
  );
}

/**
 * Rejects a payload that contains itself: copying or writing it would never end. Each value takes at least one
 * byte of the body.
 */
function checkFinite(payload: unknown, most: number): void {
  const left = [payload];
  let count = 0;
  for (let value = left.pop(); left.length > 0 || value !== undefined; value = left.pop()) {
    count += 1;
    if (count > most) {
      throw new UsageError(
        'unwrap_invalid',
        'unwrap returned a payload that contains itself, or is far larger than the body.',
      );
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(value)) left.push(member);
  }
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

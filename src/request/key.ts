import { UsageError } from '../errors/errors.js';
import { copyText, nameType } from '../runtime/bytes.js';
import { sha2 } from '../runtime/hashes.js';
import { fieldOf, isJsonObject, isRounded, type JsonObject } from '../schemas/values.js';
import { hintAtPromise } from './promised.js';

/**
 * Writes parsed JSON in the canonical form of RFC 8785: members sorted by the UTF-16 units of their names, no
 * white space, numbers and text as ECMAScript writes them. Two encodings of the same value give the same text.
 *
 * Omits members that are `undefined`, which `unwrap` may leave. Not recursive, because a body may be nested deeper
 * than the stack allows; libraries for RFC 8785 are recursive.
 *
 * @returns `undefined` if a number is beyond 2^53: it has lost digits, and two values may have become one.
 */
export function canonicalJson(value: unknown): string | undefined {
  let written = '';
  // The last one is written first. A value is in a list of its own, unlike a text.
  const left: (string | readonly [unknown])[] = [[value]];
  for (let piece = left.pop(); piece !== undefined; piece = left.pop()) {
    if (typeof piece === 'string') {
      written += piece;
      continue;
    }
    const [given] = piece;
    const isList = Array.isArray(given);
    if (isList || isJsonObject(given)) {
      // Compares UTF-16 units, as sort() does. Uses entries, because a member may be named __proto__.
      const members = isList
        ? given.map((member) => ['', member] as const)
        : Object.entries(given)
            .filter(([, member]) => member !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1));
      left.push(isList ? ']' : '}');
      for (const [index, [name, member]] of [...members.entries()].reverse()) {
        left.push([member], (index > 0 ? ',' : '') + (isList ? '' : `${JSON.stringify(name)}:`));
      }
      left.push(isList ? '[' : '{');
    } else {
      if (isRounded(given)) return undefined;
      written += JSON.stringify(given);
    }
  }
  return written;
}

/**
 * Identifies a delivery: two deliveries with the same key are the same.
 *
 * - `'delivery'`: the id, the event and the signed content. A retry is a duplicate; no unsigned header
 *   can make one delivery pass for another.
 * - `'content'`: the event and the signed content. A replay under a new id is a duplicate, too.
 * - `'id'`: the id alone, which is not signed. Only for a provider that demonstrably needs it.
 * - a function: the event and the text that it returns for the payload.
 */
export type KeyBy = 'delivery' | 'content' | 'id' | KeyFunction;

/**
 * Makes the key of a delivery out of its payload as sent: a text that is the same for every retry, and different
 * for each state that a handler has to see. If it returns `undefined`, the key is made as by `'delivery'`. The key
 * of a payload that is not an object is made that way, too.
 *
 * @example
 * const keyBy: KeyFunction = ({ id, status }, { event }) =>
 *   event.startsWith('order:') ? `${id}:${status}` : undefined;
 */
export type KeyFunction = (
  payload: JsonObject,
  about: { readonly event: string },
) => string | undefined;

/**
 * Returns the state that a payload claims for itself, or a hash of all its content. If the provider encodes a
 * retry differently (other spacing, `10.0` for `10`), the result is the same; so it is for the copy in the
 * provider's log.
 */
export function contentOf(payload: unknown, rawBody: Uint8Array): string {
  if (isJsonObject(payload)) {
    const id = fieldOf(payload, 'id');
    const status = fieldOf(payload, 'status');
    const updated_at = fieldOf(payload, 'updated_at');
    const known = status === undefined || typeof status === 'string' || typeof status === 'number';
    if (typeof id === 'string' && typeof updated_at === 'string' && known) {
      // Each text that another one follows has its length before it, so that the joined text is unambiguous.
      const state = `${status}`;
      return `state:${id.length}:${id}${typeof status}:${state.length}:${state}${updated_at}`;
    }
  }
  const canonical = canonicalJson(payload);
  return canonical === undefined
    ? `bytes:${sha2.sha256(rawBody)}`
    : `json:${sha2.sha256(canonical)}`;
}

/** Makes an id for a delivery that has none. */
export function contentId(content: string): string {
  return `content:${hashOf(content)}`;
}

const MAX_HEADER = 200;
/** Characters that a store would change: NUL, and unpaired surrogates. */
const NOT_TEXT = /[\0\p{Cs}]/u;
/** A much faster first test, which also matches paired surrogates. Real ids contain none of either. */
const PERHAPS_NOT_TEXT = /[\0\ud800-\udfff]/;

/** Returns an unsigned header in the form that is stored: a very long one is cut, and a hash keeps it unique. */
export function headerText(text: string): string {
  if (text.length <= MAX_HEADER && !isOdd(text)) return text;
  const begin = text.slice(0, 100).replace(/[\0\p{Cs}]/gu, '\ufffd');
  return `${copyText(begin)}…${hashOf(text)}`;
}

function isOdd(text: string): boolean {
  return PERHAPS_NOT_TEXT.test(text) && NOT_TEXT.test(text);
}

/** Hashes a text. As bytes, texts that differ in an unpaired surrogate would be equal; JSON keeps them apart. */
function hashOf(text: string): string {
  return sha2.sha256(isOdd(text) ? JSON.stringify(text) : text).slice(0, 32);
}

/**
 * A key is the hash of a JSON array of its parts. Joined by a separator, "a:b" + "c" and "a" + "b:c" would be one key.
 */
function hashParts(parts: readonly string[]): string {
  return sha2.sha256(JSON.stringify(parts));
}

interface KeyParts {
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly content: string;
}

/**
 * Returns the idempotency key of a delivery: 64 hexadecimal digits. Headers as received and as stored give the
 * same key.
 *
 * @throws {UsageError} `key_invalid` if a `keyBy` function returns something that is not a key.
 */
export function deliveryKey(keyBy: KeyBy, parts: KeyParts, payload?: unknown): string {
  const { scope, content } = parts;
  const id = headerText(parts.id);
  const event = headerText(parts.event);
  if (typeof keyBy === 'function') {
    const own = isJsonObject(payload) ? keyBy(payload, { event: parts.event }) : undefined;
    if (own === undefined) return deliveryKey('delivery', parts);
    return hashParts(['payload', scope, event, checkOwnKey(own, 'keyBy has to return')]);
  }
  if (keyBy === 'id') return hashParts([keyBy, scope, id]);
  return keyBy === 'content'
    ? hashParts([keyBy, scope, event, content])
    : hashParts([keyBy, scope, id, event, content]);
}

/** No text, or that of a missing value in a template: two orders without the field would get the same key. */
const HOLE = /^$|(?<!\w)(?:undefined|NaN|\[object \w+\])(?!\w)/;

/**
 * Checks a key that the user or a function of the user has made.
 *
 * @param whatNeeds - The beginning of the error message, such as `keyBy has to return`.
 * @throws {UsageError} `key_invalid`
 */
export function checkOwnKey(key: unknown, whatNeeds: string): string {
  if (typeof key === 'string' && !HOLE.test(key)) return key;
  // Not the whole text, which may name a customer.
  const given = typeof key === 'string' ? `"${HOLE.exec(key)}"` : nameType(key);
  throw new UsageError(
    'key_invalid',
    `${whatNeeds} a string such as order.id, not ${given}${hintAtPromise(key)}.`,
  );
}

/**
 * The key of a delivery that does not fit its event. Separate from the key of the valid delivery, so that the
 * invalid one does not use it up, whatever it claims.
 */
export function invalidKey(
  { scope, id, event }: Omit<KeyParts, 'content'>,
  rawBody: Uint8Array,
): string {
  return hashParts(['invalid', scope, headerText(id), headerText(event), sha2.sha256(rawBody)]);
}

/**
 * The key of a delivery that could not be verified. Separate, so that such a delivery does not use up the key of a
 * genuine one, whatever it claims, nor of the same delivery when it is verified later.
 */
export function unprovenKey(
  { scope, id, event }: Omit<KeyParts, 'content'>,
  rawBody: Uint8Array,
  proof: string,
): string {
  const claimed = [scope, headerText(id), headerText(event), proof];
  return hashParts(['unproven', ...claimed, sha2.sha256(rawBody)]);
}

/** The idempotency key of an effect. */
export function effectKey(scope: string, handler: string, key: string): string {
  return hashParts(['effect', scope, handler, key]);
}

/** The idempotency key of goods. Never equal to the key of an effect, whatever the names. */
export function goodsKey(scope: string, key: string): string {
  return hashParts(['goods', scope, key]);
}

/** The key of a named lease, which belongs to no delivery and no effect. */
export function leaseKey(scope: string, name: string): string {
  return hashParts(['lease', scope, name]);
}

/** The key under which a handler remembers the newest state of a record. */
export function newestKey(scope: string, handler: string, record: string): string {
  return hashParts(['newest', scope, handler, record]);
}

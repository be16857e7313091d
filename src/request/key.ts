import { UsageError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../schemas/json.js';
import { canonicalJson } from './canonical-json.js';
import { hintAtPromise } from './promised.js';
import { sha2 } from './sha2.js';

/**
 * What makes two deliveries the same one.
 *
 * - `'delivery'`: the id, the event and the signed content. A retry is a duplicate; no unsigned header
 *   can make one delivery pass for another.
 * - `'content'`: the event and the signed content. A replay under a fresh id is a duplicate, too.
 * - `'id'`: the id alone. Only for a provider that is proven to need it: the id is not signed.
 * - a function: the event and what it makes of the payload.
 */
export type KeyBy = 'delivery' | 'content' | 'id' | KeyFunction;

/**
 * Makes the key of a delivery out of its payload, as it was sent: a text that is the same for each retry, and
 * another one for each state that a handler is to see. `undefined`: as by `'delivery'`, which is also how a
 * payload is known that is no object.
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
 * The state that a payload claims for itself, or else all that it says. A retry that the provider encodes anew
 * (other spacing, `10.0` for `10`) states the same content, and so does the provider's log of it.
 */
export function contentOf(payload: unknown, rawBody: Uint8Array): string {
  if (isJsonObject(payload)) {
    const { id, status, updated_at } = payload;
    const known = status === undefined || typeof status === 'string' || typeof status === 'number';
    if (typeof id === 'string' && typeof updated_at === 'string' && known) {
      // Each text that another one follows carries its length: what is joined cannot be read in two ways.
      const state = `${status}`;
      return `state:${id.length}:${id}${typeof status}:${state.length}:${state}${updated_at}`;
    }
  }
  const canonical = canonicalJson(payload);
  return canonical === undefined
    ? `bytes:${sha2.sha256(rawBody)}`
    : `json:${sha2.sha256(canonical)}`;
}

/** Stands in for the id of a delivery that came without one. */
export function contentId(content: string): string {
  return `content:${hashOf(content)}`;
}

const MAX_HEADER = 200;
/** What a store would change: NUL, and half of a surrogate pair. */
const NOT_TEXT = /[\0\p{Cs}]/u;
/** What can be any of that. Many times as fast, and nothing of it is in the ids that there are. */
const PERHAPS_NOT_TEXT = /[\0\ud800-\udfff]/;

/** An unsigned header as it is kept: one that is very long is cut, and a hash keeps it apart from all others. */
export function headerText(text: string): string {
  if (text.length <= MAX_HEADER && !isOdd(text)) return text;
  return `${text.slice(0, 100).replace(/[\0\p{Cs}]/gu, '\ufffd')}…${hashOf(text)}`;
}

function isOdd(text: string): boolean {
  return PERHAPS_NOT_TEXT.test(text) && NOT_TEXT.test(text);
}

/** As bytes, two texts that differ in half of a surrogate pair would be the same: JSON keeps them apart. */
function hashOf(text: string): string {
  return sha2.sha256(isOdd(text) ? JSON.stringify(text) : text).slice(0, 32);
}

// A key is the hash of a JSON array of its parts. Joined by a separator, "a:b" + "c" and "a" + "b:c" would be one key.

interface KeyParts {
  readonly scope: string;
  readonly id: string;
  readonly event: string;
  readonly content: string;
}

/**
 * The idempotency key of a delivery: 64 hexadecimal digits. The same for its headers as they are kept.
 *
 * @throws {UsageError} `key_invalid` where a function gives what is no key.
 */
export function deliveryKey(keyBy: KeyBy, parts: KeyParts, payload?: unknown): string {
  if (typeof keyBy === 'function') {
    const { scope, event } = parts;
    const own = isJsonObject(payload) ? keyBy(payload, { event }) : undefined;
    if (own === undefined) return deliveryKey('delivery', parts);
    const made = [scope, headerText(event), checkOwnKey(own, 'keyBy')];
    return sha2.sha256(JSON.stringify(['payload', ...made]));
  }
  const { scope, content } = parts;
  const id = headerText(parts.id);
  const event = headerText(parts.event);
  switch (keyBy) {
    case 'delivery':
      return sha2.sha256(JSON.stringify([keyBy, scope, id, event, content]));
    case 'content':
      return sha2.sha256(JSON.stringify([keyBy, scope, event, content]));
    case 'id':
      return sha2.sha256(JSON.stringify([keyBy, scope, id]));
  }
}

/** What a template writes where there was nothing: two orders without the field would be one. */
const HOLE = /(?<!\w)(?:undefined|NaN|\[object \w+\])(?!\w)/;

/**
 * A key that a function of the user's has made.
 *
 * @param of - Which one, for a person.
 * @throws {UsageError} `key_invalid`
 */
export function checkOwnKey(key: unknown, of: string): string {
  if (typeof key === 'string' && key !== '' && !HOLE.test(key)) return key;
  throw new UsageError(
    'key_invalid',
    `${of} has to give a string that is not empty and holds no undefined, such as order.id${hintAtPromise(key)}.`,
  );
}

/**
 * The key of a delivery that does not fit its event. A key of its own: what is wrong must not use up
 * the key of the one that is right, whatever it states.
 */
export function invalidKey({ scope, id, event }: KeyParts, rawBody: Uint8Array): string {
  const claimed = [scope, headerText(id), headerText(event)];
  return sha2.sha256(JSON.stringify(['invalid', ...claimed, sha2.sha256(rawBody)]));
}

/**
 * The key of a delivery that is not proven: it must not use up that of a genuine one, whatever it claims,
 * nor stand for one that is proven later.
 */
export function unprovenKey(
  parts: Omit<KeyParts, 'content'>,
  rawBody: Uint8Array,
  proof: string,
): string {
  const claimed = [parts.scope, headerText(parts.id), headerText(parts.event), proof];
  return sha2.sha256(JSON.stringify(['unproven', ...claimed, sha2.sha256(rawBody)]));
}

/** The idempotency key of an effect: what one handler does once for a key of its own. */
export function effectKey(scope: string, handler: string, key: string): string {
  return sha2.sha256(JSON.stringify(['effect', scope, handler, key]));
}

/** The idempotency key of goods: no handler's effect has the same, whatever it is called. */
export function goodsKey(scope: string, key: string): string {
  return sha2.sha256(JSON.stringify(['goods', scope, key]));
}

/** The key of a lease of a name, which is no delivery and no effect. */
export function leaseKey(scope: string, name: string): string {
  return sha2.sha256(JSON.stringify(['lease', scope, name]));
}

/** The key under which one handler remembers the newest state of a record that it has seen. */
export function newestKey(scope: string, handler: string, record: string): string {
  return sha2.sha256(JSON.stringify(['newest', scope, handler, record]));
}

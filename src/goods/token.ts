import { UsageError } from '../errors/errors.js';
import { toUtf8 } from '../runtime/bytes.js';
import { sha2 } from '../runtime/hashes.js';
import type { Allow } from './options.js';

const MIN_LENGTH = 16;
const MIN_DIFFERENT = 6;

/**
 * Allows calls whose address holds a token that only you and the provider know, as in
 * `https://shop.example/goods?token=…`. Pass it as `verify.allow`. Compares in constant time.
 *
 * @param token - At least 16 characters, such as letters, digits, `-` and `_`. The type allows `undefined`, for an environment variable.
 * @param name - The name of the query parameter. Default: `token`.
 * @throws {UsageError} `secret_invalid` if the token is missing, too short or easy to guess, has a line end or
 *   quotes that were pasted with it, or has `+`, `&`, `#` or `%`, which mean something else in an address.
 *
 * @example
 * const verify = { signed: false, allow: hasToken(process.env.GOODS_TOKEN) };
 */
export function hasToken(token: string | undefined, name = 'token'): Allow {
  const fault = typeof token === 'string' ? findFault(token) : 'it is missing';
  if (typeof token !== 'string' || fault) {
    throw new UsageError(
      'secret_invalid',
      `hasToken() needs a token of ${MIN_LENGTH} characters or more that is hard to guess, but ${fault}. Check the variable that it comes from.`,
    );
  }
  // Hashes have the same length for any input, as a constant-time comparison needs.
  const hash = (text: string) => sha2.hmacSha512(token, toUtf8(text));
  const expected = hash(token);
  return (_order, { query }) => sha2.equal(hash(query.get(name) ?? ''), expected);
}

/** Returns why a token is unusable or easy to guess; `undefined` if it is fine. */
function findFault(token: string): string | undefined {
  if (token.trim() !== token) return 'it begins or ends with white space';
  if (/^(["'`]).*\1$/s.test(token)) return 'it is in quotes';
  if (/^(undefined|null|NaN|\[object \w+\])+$/.test(token))
    return 'it is the text of a missing value, such as "undefined"';
  // If the address does not encode these characters, no call has the token.
  if (/[+&#%]/.test(token))
    return 'it has one of + & # %, which mean something else in an address: use letters, digits, - and _';
  const seen = token.replaceAll(/[\p{C}\p{M}]|(?! )\p{Z}/gu, '');
  if (seen.length < MIN_LENGTH) return 'it is too short';
  return new Set(seen).size < MIN_DIFFERENT ? 'it repeats a few characters' : undefined;
}

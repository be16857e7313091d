import { UsageError } from '../errors.js';
import { toUtf8 } from '../request/bytes.js';
import { sha2 } from '../request/sha2.js';
import type { Allow } from './options.js';

const MIN_LENGTH = 16;

/**
 * Lets those calls have goods whose address has a token that only you and the provider know, as in
 * `https://shop.example/goods?token=…`: for `verify.allow`. Compares in constant time.
 *
 * @param token - At least 16 characters. `undefined` is allowed by type, for an environment variable.
 * @param name - Of the part of the query. Default: `token`.
 * @throws {UsageError} `secret_invalid` where it is missing or shorter.
 *
 * @example
 * const verify = { signed: false, allow: hasToken(process.env.GOODS_TOKEN) };
 */
export function hasToken(token: string | undefined, name = 'token'): Allow {
  if (typeof token !== 'string' || token.trim().length < MIN_LENGTH) {
    throw new UsageError(
      'secret_invalid',
      `hasToken() needs a token of ${MIN_LENGTH} characters or more, which nobody can guess. Check that its variable is set.`,
    );
  }
  // Of equal length, whatever is given.
  const hash = (text: string) => sha2.hmacSha512(token, toUtf8(text));
  const expected = hash(token);
  return (_order, { query }) => sha2.equal(hash(query.get(name) ?? ''), expected);
}

import type { Markets } from '../markets.js';
import { isKey } from '../state/account.js';
import type { Market } from '../trade/market.js';
import { ErrorAnswer, MESSAGES } from './answers.js';

/**
 * Returns the market of the account that credentials open (specification: Authentication): `Bearer sk_test_…`,
 * or basic authentication with an email and such a key.
 *
 * @throws {ErrorAnswer} 401
 */
export function authenticate(markets: Markets, authorization: string | undefined): Market {
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+) *$/.exec(authorization ?? '') ?? [];
  const isBearer = scheme.toLowerCase() === 'bearer';
  const isBasic = scheme.toLowerCase() === 'basic';
  const { credentials: taken, variant } = markets.unknowns;
  const isTaken = taken === 'either' || isBearer === (variant === 'newer');
  const key = isBearer ? credentials : isBasic ? keyOf(credentials) : '';
  if (isTaken && isKey(key)) return markets.open(key);
  const wanted = variant === 'older' ? 'basic' : 'bearer';
  const only = taken === 'either' ? '' : ` This sandbox accepts ${wanted} authentication only.`;
  throw new ErrorAnswer(401, {
    message: MESSAGES[401] + only,
    headers: { 'www-authenticate': 'Bearer, Basic realm="sandbox"' },
  });
}

/** Returns the key in basic credentials. Any email is accepted: the key alone identifies the account. */
function keyOf(credentials: string): string {
  const text = Buffer.from(credentials, 'base64').toString();
  const [, key = ''] = /^[^:\s]+:(.*)$/.exec(text) ?? [];
  return key;
}

import { checkOwnKey, effectKey } from '../request/key.js';
import type { Claimable } from '../stores/store.js';
import type { Route } from './router.js';

/**
 * The idempotency key of what a handler does once for a key of its own.
 *
 * @throws {UsageError} `key_invalid`
 */
export function keyOfEffect({ name, storedName }: Route, scope: string, key: unknown): string {
  const checked = checkOwnKey(key, `oncePer of the handler "${name}"`);
  return effectKey(scope, storedName, checked);
}

/** An effect as a store keeps it: the body is kept with the delivery that asks for it. */
export function toClaimable(
  key: string,
  { scope, id, event, receivedAt }: Omit<Claimable, 'key' | 'body'>,
): Claimable {
  return { key, scope, id, event, receivedAt, body: undefined };
}

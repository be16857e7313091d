import { UsageError } from '../errors.js';
import { effectKey } from '../request/key.js';
import type { Claimable } from '../stores/store.js';
import { hintAtPromise } from './promised.js';
import type { Route } from './router.js';

/**
 * The idempotency key of what a handler does once for a key of its own.
 *
 * @throws {UsageError} `key_invalid`
 */
export function keyOfEffect({ name, storedName }: Route, scope: string, key: unknown): string {
  if (typeof key === 'string' && key !== '') return effectKey(scope, storedName, key);
  throw new UsageError(
    'key_invalid',
    `A key of the handler "${name}", as its oncePer gives it, has to be a string that is not empty, such as ` +
      `order.id${hintAtPromise(key)}.`,
  );
}

/** An effect as a store keeps it: the body is kept with the delivery that asks for it. */
export function toClaimable(
  key: string,
  { scope, id, event, receivedAt }: Omit<Claimable, 'key' | 'body'>,
): Claimable {
  return { key, scope, id, event, receivedAt, body: undefined };
}

import { WebhookError } from '../errors/errors.js';
import type { Idempotency } from './idempotency.js';
import type { Route } from './router.js';
import { keyOfEffect, toClaimable } from './run-handlers.js';

/** Stands in for the id and the event of a delivery, because no delivery asked for this effect. */
const MARK_DONE = 'markDone';

/**
 * Records an effect in the store as done, without running its handler.
 *
 * @returns Whether it was not done before.
 * @throws {UsageError} `key_invalid`
 * @throws {WebhookError} `store_unavailable` or `delivery_unfinished`, if the effect was not recorded.
 */
export async function markDone(
  route: Route,
  { scope, key }: { readonly scope: string; readonly key: string },
  idempotency: Idempotency,
): Promise<boolean> {
  const about = { scope, id: MARK_DONE, event: MARK_DONE, receivedAt: Date.now() };
  const effect = toClaimable(keyOfEffect(route, scope, key), about);
  let cause: unknown;
  const onError = (error: unknown) => {
    cause = error;
  };
  const terms = { keepMs: Number.POSITIVE_INFINITY, isOnlyRecord: true, onError };
  const { outcome } = await idempotency.doOnce(effect, terms, async () => ({
    state: 'done',
    ran: [route.name],
  }));
  switch (outcome) {
    case 'handled':
      return true;
    case 'duplicate':
      return false;
    case 'busy':
      throw new WebhookError(
        'delivery_unfinished',
        `The handler "${route.name}" is running for this key, or has just ended. Call markDone() again.`,
      );
    default:
      throw new WebhookError(
        'store_unavailable',
        'The key is not marked: the store is down, or the receiver is closing. Call markDone() again.',
        { cause },
      );
  }
}

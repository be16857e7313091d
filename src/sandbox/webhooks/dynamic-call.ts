import type { Account } from '../state/account.js';
import type { KeptOrder, KeptWebhookLog } from '../state/kinds.js';
import type { Result } from './attempt.js';

/** The event name of a dynamic product's call in its log and header. The specification shows no name. */
export const DYNAMIC_CALL = 'product:dynamic';

/** Returns whether a webhook is the call of a dynamic product, whose answer is the goods. */
export function isDynamicCall({ event }: Pick<KeptWebhookLog, 'event'>): boolean {
  return event === DYNAMIC_CALL;
}

/** Returns the order of a call, if the order still needs goods. */
export function findWaiting(account: Account, { payload }: KeptWebhookLog): KeptOrder | undefined {
  const order = account.orders.get(`${payload.id}`);
  const isWaiting = order?.shown.status === 100 && order.shown.delivered === null;
  return isWaiting ? order : undefined;
}

/**
 * Returns the goods in an answer, which are its unchanged body; `undefined` if the answer is empty, too large,
 * or not 2xx.
 */
export function toGoods(result: Result): string | undefined {
  if (result.kind !== 'answered' || !result.isWhole) return undefined;
  const isGood = result.code >= 200 && result.code < 300 && result.text.trim() !== '';
  return isGood ? result.text : undefined;
}

import type { Account } from '../state/account.js';
import type { KeptOrder, KeptWebhookLog } from '../state/kinds.js';
import type { Result } from './attempt.js';

/** What the call of a dynamic product is named in its log and header: the specification shows no name. */
export const DYNAMIC_CALL = 'product:dynamic';

/** Whether a webhook is the call of a dynamic product, whose answer is the goods. */
export function isDynamicCall({ event }: Pick<KeptWebhookLog, 'event'>): boolean {
  return event === DYNAMIC_CALL;
}

/** The order that a call is made for, as long as it needs goods. */
export function findWaiting(account: Account, { payload }: KeptWebhookLog): KeptOrder | undefined {
  const order = account.orders.get(`${payload.id}`);
  const isWaiting = order?.shown.status === 100 && order.shown.delivered === null;
  return isWaiting ? order : undefined;
}

/** The goods in an answer: its body, as it is. There are none in one that is empty, too large, or not 2xx. */
export function toGoods(result: Result): string | undefined {
  if (result.kind !== 'answered' || !result.isWhole) return undefined;
  const isGood = result.code >= 200 && result.code < 300 && result.text.trim() !== '';
  return isGood ? result.text : undefined;
}

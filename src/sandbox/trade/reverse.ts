import type { KeptOrder, OrderCode } from '../state/kinds.js';
import { release } from './holding.js';
import type { Market } from './market.js';
import { changeOrder, findOrder, type OrderChanges } from './orders.js';

/** Gives the customer's money back (56). @throws {Refusal} */
export function refund(market: Market, orderId: string): KeptOrder {
  return end(market, orderId, 'refunded', [53, 54, 55, 100], { shown: { status: 56 } });
}

/** The customer or their bank takes the money back (51). @throws {Refusal} */
export function chargeBack(market: Market, orderId: string): KeptOrder {
  return end(market, orderId, 'charged back', [53, 54, 55, 100], { shown: { status: 51 } });
}

/** Closes an order that was not paid in full. Its status stays, as there is none for this. @throws {Refusal} */
export function expire(market: Market, orderId: string): KeptOrder {
  return end(market, orderId, 'expired', [0, 53], { kept: { is_closed: true } });
}

/** What was kept for an order is in stock again; what was delivered never is. */
function end(
  market: Market,
  orderId: string,
  done: string,
  statuses: readonly OrderCode[],
  { shown = {}, kept = {} }: OrderChanges,
): KeptOrder {
  const order = findOrder(market, orderId, done, statuses);
  return market.account.transact(() =>
    changeOrder(market, order, { shown, kept: { ...kept, ...release(market, order) } }),
  );
}

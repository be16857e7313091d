import type { KeptOrder, OrderCode } from '../state/kinds.js';
import type { Market } from './market.js';
import { changeOrder, findOrder, type OrderChanges } from './orders.js';
import { release } from './reserve-stock.js';

/** Returns the money to the customer (56). @throws {Refusal} */
export function refund(market: Market, orderId: string): KeptOrder {
  return end(market, orderId, 'refunded', [53, 54, 55, 100], { shown: { status: 56 } });
}

/** The customer or their bank takes the money back (51). @throws {Refusal} */
export function chargeBack(market: Market, orderId: string): KeptOrder {
  return end(market, orderId, 'charged back', [53, 54, 55, 100], { shown: { status: 51 } });
}

/**
 * Closes an order that was not paid in full. Its status stays, because there is no status for this. @throws
 * {Refusal}
 */
export function expire(market: Market, orderId: string): KeptOrder {
  return end(market, orderId, 'expired', [0, 53], { kept: { is_closed: true } });
}

/** Ends an order. Reserved goods return to stock; delivered goods do not. */
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

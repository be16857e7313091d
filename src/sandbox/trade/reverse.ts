import type { KeptOrder } from '../state/kinds.js';
import type { Market } from './market.js';

/** Gives the customer's money back (56). @throws {Refusal} */
export function refund(_market: Market, _orderId: string): KeptOrder {
  throw new Error('Not built yet.');
}

/** The customer or their bank takes the money back (51). @throws {Refusal} */
export function chargeBack(_market: Market, _orderId: string): KeptOrder {
  throw new Error('Not built yet.');
}

/** Closes an order that nobody has paid: what was kept for it is in stock again. @throws {Refusal} */
export function expire(_market: Market, _orderId: string): KeptOrder {
  throw new Error('Not built yet.');
}

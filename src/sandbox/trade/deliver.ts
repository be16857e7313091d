import type { KeptOrder } from '../state/kinds.js';
import type { Market } from './market.js';

/** Gives an order of a dynamic product the goods that its `dynamic_url` has made. @throws {Refusal} */
export function deliver(_market: Market, _orderId: string, _goods: string): KeptOrder {
  throw new Error('Not built yet.');
}

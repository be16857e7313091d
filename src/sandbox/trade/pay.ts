import type { KeptOrder } from '../state/kinds.js';
import type { Market } from './market.js';

/** How an order is paid. */
export interface Paying {
  /** How much, in the order's currency. Less than what is owed makes it partially paid. Default: what is owed. */
  readonly value?: number | string;
  /** Leaves the payment of a wallet pending (55) until it is confirmed. Default `false`. */
  readonly pending?: boolean;
}

/**
 * Pays an order. It is then partially paid (53), awaits confirmations (54), is pending (55) or completed (100).
 *
 * @throws {Refusal}
 */
export function pay(_market: Market, _orderId: string, _paying: Paying = {}): KeptOrder {
  throw new Error('Not built yet.');
}

/**
 * Gives a payment its next confirmations: of a cryptocurrency, until it has as many as it needs; of a wallet,
 * one is enough.
 *
 * @throws {Refusal}
 */
export function confirm(_market: Market, _orderId: string, _confirmations = 1): KeptOrder {
  throw new Error('Not built yet.');
}

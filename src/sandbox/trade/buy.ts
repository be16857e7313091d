import type { JsonObject } from '../../schemas/json.js';
import type { KeptOrder } from '../state/kinds.js';
import type { Gateway } from './gateways.js';
import type { Market } from './market.js';

/** What a customer orders, and how they come. */
export interface Purchase {
  /** The id of the product. */
  readonly product_id: string;
  /** Default: the product's `minimum_quantity`. */
  readonly quantity?: number;
  /** Default: the first of the product's that is configured in the account. */
  readonly gateway?: Gateway;
  /** Default `buyer@example.com`. */
  readonly email?: string;
  /** Default `203.0.113.7`. */
  readonly ip_address?: string;
  /** ISO 3166-1 alpha-2. Default `US`. */
  readonly country_code?: string;
  /** Default: a browser's. */
  readonly user_agent?: string;
  /** How risky the customer is, 0 to 100. Default 0. */
  readonly risk_level?: number;
  /** Whether the customer comes by a VPN or a proxy. Default `false`. */
  readonly vpn?: boolean;
  /** Where the customer came from. Default: `null`. */
  readonly referral?: string | null;
  /** What the customer wrote into the product's own fields. Default: nothing. */
  readonly custom?: JsonObject;
}

/**
 * Makes the order of a customer, which is then not paid (status 0), or of high risk (52) and closed.
 *
 * @throws {Refusal}
 */
export function buy(_market: Market, _purchase: Purchase): KeptOrder {
  throw new Error('Not built yet.');
}

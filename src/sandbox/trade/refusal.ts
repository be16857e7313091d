/** Why a step of a trade was refused. */
export type RefusalCode =
  /**
   * The email, the IP address or the country of the customer is on the blacklist. To do: take the entry off
   * the blacklist, or buy as another customer.
   */
  | 'blacklisted'
  /**
   * The gateway is none of the product's, or is not configured in the account. To do: choose one of the
   * product's gateways.
   */
  | 'gateway_unavailable'
  /**
   * There is no such product, order or payment, or it is private. To do: take an id that the account lists.
   */
  | 'not_found'
  /** Not as many are in stock. To do: buy fewer, or raise the stock of the product. */
  | 'out_of_stock'
  /**
   * What was given cannot be, such as a quantity out of the product's bounds. To do: change the parameter
   * that the message names.
   */
  | 'parameter_invalid'
  /**
   * The order, or the account, is in a state in which this cannot happen. To do: look at the state, and do
   * what leads to the right one first.
   */
  | 'state_invalid'
  /**
   * The customer comes by a VPN, which the product refuses. To do: buy without it, or let the product take
   * it.
   */
  | 'vpn_blocked';

/**
 * A customer, or who plays one, was refused. Answered with 400, or 404 for what is not there.
 *
 * @example
 * import { expect } from 'vitest';
 *
 * await expect(account.buy({ product_id: product.id, quantity: 99 })).rejects.toThrow('in stock');
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

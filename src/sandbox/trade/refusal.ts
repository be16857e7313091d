/** Why a step of a trade was refused. */
export type RefusalCode =
  /** The email, the IP address or the country of the customer is on the blacklist. */
  | 'blacklisted'
  /** The gateway is none of the product's, or is not configured in the account. */
  | 'gateway_unavailable'
  /** There is no such product, order or payment, or it is private. */
  | 'not_found'
  /** Not as many are in stock. */
  | 'out_of_stock'
  /** What was given cannot be, such as a quantity out of the product's bounds. */
  | 'parameter_invalid'
  /** The order, or the account, is in a state in which this cannot happen. */
  | 'state_invalid'
  /** The customer comes by a VPN, which the product refuses. */
  | 'vpn_blocked';

/**
 * A customer, or who plays one, was refused. Answered with 400, or 404 for what is not there.
 *
 * @example
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

/** The code of a {@link Refusal}. */
export type RefusalCode =
  /**
   * The email, the IP address or the country of the customer is on the blacklist. To do: take the entry off
   * the blacklist, or buy as another customer.
   */
  | 'blacklisted'
  /**
   * The product does not offer the gateway, or the gateway is not configured in the account. To do: choose one
   * of the product's gateways.
   */
  | 'gateway_unavailable'
  /**
   * The product, order, query or payment does not exist, or the product is private. To do: use an id that the
   * account lists.
   */
  | 'not_found'
  /** The stock is smaller than the quantity ordered. To do: buy fewer, or raise the stock of the product. */
  | 'out_of_stock'
  /**
   * A parameter is not valid, such as a quantity outside the product's bounds. To do: change the parameter that
   * the message names.
   */
  | 'parameter_invalid'
  /**
   * The state of the order or the account does not allow this step. To do: check the state, and first do the
   * step that leads to the right one.
   */
  | 'state_invalid'
  /**
   * The customer uses a VPN or a proxy, which the product blocks. To do: buy without it, or set `vpn_block` of
   * the product to `false`.
   */
  | 'vpn_blocked';

/**
 * The error of a step that the shop does not allow, such as ordering more than is in stock. Over HTTP, the
 * answer is 400, or 404 if the record does not exist.
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

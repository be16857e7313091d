import type { JsonObject } from '../../schemas/values.js';
import type { KeptOrder, KeptProduct } from '../state/kinds.js';
import { refuseBlacklisted } from './blacklist.js';
import { type Gateway, toGateway } from './gateways.js';
import { newId } from './ids.js';
import type { Market } from './market.js';
import { toUnits } from './money.js';
import { openOrder, SOMEBODY } from './orders.js';
import { findProduct } from './products.js';
import { Refusal } from './refusal.js';
import { hold } from './reserve-stock.js';

/** The order and details of a customer. */
export interface Purchase {
  /** The id of the product. */
  readonly product_id: string;
  /** Default: the product's `minimum_quantity`. */
  readonly quantity?: number | undefined;
  /**
   * The gateway, by its name in the API or its display name. Default: the product's first one that is configured
   * in the account.
   */
  readonly gateway?: string | undefined;
  /** The customer's email. Default `buyer@example.com`. */
  readonly email?: string | undefined;
  /** The customer's IP address. Default `203.0.113.7`. */
  readonly ip_address?: string | undefined;
  /** The customer's country, as an ISO 3166-1 alpha-2 code. Default `US`. */
  readonly country_code?: string | undefined;
  /** The customer's user agent. Default: a browser's. */
  readonly user_agent?: string | undefined;
  /** The customer's risk level, 0 to 100. Default 0. */
  readonly risk_level?: number | undefined;
  /** Whether the customer uses a VPN or a proxy. Default `false`. */
  readonly vpn?: boolean | undefined;
  /** The page that the customer came from. Default: `null`. */
  readonly referral?: string | null | undefined;
  /** The customer's input in the product's custom fields. Default: no input. */
  readonly custom?: JsonObject | undefined;
}

/**
 * Creates a customer's order. The order is unpaid (status 0) and reserves its goods, or it is of high risk (52)
 * and closed.
 *
 * @param id - The id of the order. Default: a new one.
 * @throws {Refusal}
 */
export function buy(market: Market, purchase: Purchase, id = newId('ord')): KeptOrder {
  const { account } = market;
  const product = findProduct(market, purchase.product_id);
  if (!product) {
    throw new Refusal('not_found', 'There is no such product, or it is private.');
  }
  const { quantity = product.minimum_quantity, vpn = false } = purchase;
  const customer = {
    email: purchase.email ?? SOMEBODY.email,
    ip_address: purchase.ip_address ?? SOMEBODY.ip_address,
    country_code: purchase.country_code ?? SOMEBODY.country_code,
    user_agent: purchase.user_agent ?? SOMEBODY.user_agent,
    risk_level: purchase.risk_level ?? SOMEBODY.risk_level,
    referral: purchase.referral ?? SOMEBODY.referral,
    custom: purchase.custom ?? SOMEBODY.custom,
  };
  checkQuantity(product, quantity);
  const gateway = chooseGateway(market, product, purchase.gateway);
  refuseBlacklisted(market, customer);
  if (vpn && product.vpn_block) {
    throw new Refusal(
      'vpn_blocked',
      'The product is not sold to customers who use a VPN or a proxy.',
    );
  }
  const isRisky = customer.risk_level > product.max_risk_level;
  return account.transact(() =>
    openOrder(market, {
      id,
      ...customer,
      ...(isRisky ? { held: [], taken: 0 } : hold(market, product, quantity)),
      product_id: product.id,
      product_title: product.title,
      currency: product.currency,
      value: toUnits(product.price) * BigInt(quantity),
      quantity,
      gateway,
      confirmations_needed: product.crypto_confirmations,
      status: isRisky ? 52 : 0,
      is_closed: isRisky,
    }),
  );
}

function checkQuantity(product: KeptProduct, quantity: number): void {
  const { minimum_quantity: least, maximum_quantity: most } = product;
  if (quantity < least || (most !== null && quantity > most)) {
    const bounds = most === null ? `at least ${least}` : `from ${least} to ${most}`;
    throw new Refusal('parameter_invalid', `The quantity has to be ${bounds}.`);
  }
}

/** The gateways of a product that are configured in the account. */
export function usableGateways({ account }: Market, product: KeptProduct): Gateway[] {
  const ofProduct = product.gateways.flatMap((name) => toGateway(name) ?? []);
  return ofProduct.filter((gateway) => account.settings.gateways.includes(gateway));
}

function chooseGateway(market: Market, product: KeptProduct, wanted?: string): Gateway {
  const usable = usableGateways(market, product);
  const gateway =
    wanted === undefined ? usable[0] : usable.find((one) => one === toGateway(wanted));
  if (gateway) return gateway;
  throw new Refusal(
    'gateway_unavailable',
    `The product does not offer this gateway, or the gateway is not configured. There are ${usable.join(', ') || 'none'}.`,
  );
}

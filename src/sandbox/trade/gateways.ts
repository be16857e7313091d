import { createHash } from 'node:crypto';
import { GATEWAYS } from '../../schemas/product.js';
import { divide, toText, toUnits } from './money.js';

/** A payment gateway by its name in the API (specification: Product). */
export type Gateway = (typeof GATEWAYS)[number];

/** What a gateway is called in an order, and what one of its coins costs in USD, if it has any. */
const KNOWN: Readonly<Record<Gateway, readonly [name: string, usdPrice?: string]>> = {
  paypal: ['PayPal'],
  stripe: ['Stripe'],
  cashapp: ['Cash App'],
  bitcoin: ['Bitcoin', '60000'],
  ethereum: ['Ethereum', '2500'],
  litecoin: ['Litecoin', '80'],
  bitcoin_cash: ['Bitcoin Cash', '400'],
  perfect_money: ['Perfect Money'],
  skrill: ['Skrill'],
  dogecoin: ['Dogecoin', '0.125'],
  bnb: ['BNB', '500'],
  polygon: ['Polygon', '0.5'],
};

/** A gateway by whatever its name is written like, such as `Bitcoin Cash`. */
export function toGateway(name: string): Gateway | undefined {
  const plain = name.toLowerCase().replace(/[\s_-]/g, '');
  return GATEWAYS.find((gateway) => gateway.replace('_', '') === plain);
}

/** Its display name. */
export function nameOf(gateway: Gateway): string {
  return KNOWN[gateway][0];
}

/** Where to send coins, and how many. */
export interface CoinTerms {
  readonly address: string;
  /** In satoshis, or hundred-millionths of another coin. */
  readonly satoshis: number;
  /** The address with the amount, as wallets open it. */
  readonly uri: string;
}

/** Of a gateway with coins, what an order is to be paid to; `undefined` of another. */
export function coinTerms(
  gateway: Gateway,
  orderId: string,
  usdValue: bigint,
): CoinTerms | undefined {
  const [, usdPrice] = KNOWN[gateway];
  if (usdPrice === undefined) return undefined;
  const units = divide(usdValue, toUnits(usdPrice));
  // No address of any coin, so that nobody sends real money to it.
  const address = `sandbox-${gateway}-${createHash('sha256').update(orderId).digest('hex').slice(0, 24)}`;
  return { address, satoshis: Number(units), uri: `${gateway}:${address}?amount=${toText(units)}` };
}

/** What one of a currency is in USD. Made up, and always the same, so that tests can count on it. */
const RATES: Readonly<Record<string, string>> = { EUR: '1.10', GBP: '1.25', CAD: '0.75' };

/** The rate of a currency to USD; 1 where the sandbox has none. */
export function rateOf(currency: string): string {
  return RATES[currency.toUpperCase()] ?? '1.00';
}

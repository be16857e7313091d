import { createHash } from 'node:crypto';
import { GATEWAYS } from '../../schemas/product.js';
import { divide, toText, toUnits } from './money.js';
import { Refusal } from './refusal.js';

/** A payment gateway by its name in the API (specification: Product). */
export type Gateway = (typeof GATEWAYS)[number];

/** The display name of each gateway and, for a cryptocurrency, the price of one coin in USD. */
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

/** Returns the gateway of a name in any spelling, such as `Bitcoin Cash`. */
export function toGateway(name: string): Gateway | undefined {
  const plain = name.toLowerCase().replace(/[\s_-]/g, '');
  return GATEWAYS.find((gateway) => gateway.replace('_', '') === plain);
}

/** Returns the display name of a gateway. */
export function nameOf(gateway: Gateway): string {
  return KNOWN[gateway][0];
}

/** The address and the amount of a cryptocurrency payment. */
export interface CoinTerms {
  readonly address: string;
  /** The amount in satoshis, or in hundred-millionths of another coin. */
  readonly satoshis: number;
  /** The address with the amount, as a URI that wallets open. */
  readonly uri: string;
}

/** The largest `crypto_value`. JSON parsing rounds larger integers. */
const MOST_COINS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Returns the address and amount that pay an order by cryptocurrency; `undefined` for any other gateway.
 *
 * @throws {Refusal} `parameter_invalid`, if the amount is too large for `crypto_value`.
 */
export function coinTerms(
  gateway: Gateway,
  orderId: string,
  usdValue: bigint,
): CoinTerms | undefined {
  const [name, usdPrice] = KNOWN[gateway];
  if (usdPrice === undefined) return undefined;
  const units = divide(usdValue, toUnits(usdPrice));
  if (units > MOST_COINS) {
    throw new Refusal(
      'parameter_invalid',
      `The value has to be at most ${toText(MOST_COINS)} ${name}, the largest crypto_value. Choose another gateway, or a lower value.`,
    );
  }
  // Not a valid address of any coin, so that no customer can send real money to it.
  const address = `sandbox-${gateway}-${createHash('sha256').update(orderId).digest('hex').slice(0, 24)}`;
  return { address, satoshis: Number(units), uri: `${gateway}:${address}?amount=${toText(units)}` };
}

/** The rates of currencies to USD. They are made up and never change, so that tests can rely on them. */
const RATES: Readonly<Record<string, string>> = { EUR: '1.10', GBP: '1.25', CAD: '0.75' };

/** Returns the rate of a currency to USD; 1 for a currency without a rate. */
export function rateOf(currency: string): string {
  return RATES[currency.toUpperCase()] ?? '1.00';
}

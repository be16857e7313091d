import type { KeptOrder, OrderCode, ShownOrder } from '../state/kinds.js';
import { coinTerms, nameOf, rateOf } from './gateways.js';
import type { Market } from './market.js';
import { convert, toCents, toText, toUnits } from './money.js';
import { Refusal } from './refusal.js';
import { sendOrder, sendPaid } from './webhooks-for.js';

/** The details of a customer. */
export type Customer = Pick<
  ShownOrder,
  'email' | 'ip_address' | 'country_code' | 'user_agent' | 'risk_level' | 'referral' | 'custom'
>;

/** The contents and the customer of a new order. */
export interface OrderTerms
  extends Customer,
    Pick<ShownOrder, 'id' | 'product_id' | 'product_title' | 'currency' | 'quantity' | 'status'>,
    Pick<KeptOrder, 'gateway' | 'confirmations_needed' | 'held' | 'taken' | 'is_closed'> {
  /** The value in `currency`, in hundred-millionths. */
  readonly value: bigint;
}

/** The default customer. The IP address is one of those reserved for examples. */
export const SOMEBODY: Customer = {
  email: 'buyer@example.com',
  ip_address: '203.0.113.7',
  country_code: 'US',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  risk_level: 0,
  referral: null,
  custom: {},
};

/**
 * Creates an order, and sends `order:created`.
 *
 * @param beside - Stores what belongs to the order, before its webhooks are logged.
 */
export function openOrder(
  market: Market,
  terms: OrderTerms,
  beside: (order: KeptOrder) => void = () => {},
): KeptOrder {
  const { id, gateway, confirmations_needed, held, taken, is_closed } = terms;
  const { orders, clock } = market.account;
  const dates = clock.dates();
  const exchangeRate = rateOf(terms.currency);
  const usdValue = toCents(convert(terms.value, toUnits(exchangeRate)));
  const coins = coinTerms(gateway, id, usdValue);
  const shown: ShownOrder = {
    id,
    product_id: terms.product_id,
    product_title: terms.product_title,
    email: terms.email,
    ip_address: terms.ip_address,
    country_code: terms.country_code,
    user_agent: terms.user_agent,
    value: toText(terms.value),
    usd_value: toText(usdValue),
    exchange_rate: exchangeRate,
    currency: terms.currency,
    gateway: nameOf(gateway),
    quantity: terms.quantity,
    risk_level: terms.risk_level,
    status: terms.status,
    delivered: null,
    referral: terms.referral,
    crypto_address: coins?.address ?? null,
    crypto_value: coins?.satoshis ?? null,
    crypto_received: 0,
    crypto_confirmations: 0,
    crypto_channel: null,
    coupon_id: null,
    custom: terms.custom,
    ...dates,
  };
  const order = { id, gateway, confirmations_needed, held, taken, is_closed, received: '0', shown };
  orders.put(order);
  beside(order);
  sendOrder(market, 'order:created', order);
  return order;
}

/** The changes to an order: to its shown fields, and to the others. */
export interface OrderChanges {
  readonly shown?: Partial<ShownOrder>;
  readonly kept?: Partial<Omit<KeptOrder, 'id' | 'shown'>>;
}

/** Changes an order, and sends its webhooks. A change to status 100 counts as paid. */
export function changeOrder(
  market: Market,
  order: KeptOrder,
  { shown, kept }: OrderChanges,
): KeptOrder {
  const updated_at = market.account.clock.timestamp();
  const changed = { ...order, ...kept, shown: { ...order.shown, ...shown, updated_at } };
  market.account.orders.put(changed);
  const isPaid = changed.shown.status === 100 && order.shown.status !== 100;
  if (isPaid) sendPaid(market, changed);
  else sendOrder(market, 'order:updated', changed);
  return changed;
}

/** The states of an order, in a customer's words. */
const STATES: Readonly<Record<OrderCode, string>> = {
  0: 'not paid',
  51: 'charged back',
  52: 'held back for its risk',
  53: 'partially paid',
  54: 'waiting for confirmations',
  55: 'pending',
  56: 'refunded',
  100: 'completed',
};

/**
 * Returns the order with an id.
 *
 * @param done - The intended change of the order, such as `paid`, for the error message.
 * @param statuses - The statuses in which it can be done.
 * @throws {Refusal} `not_found`, or `state_invalid`
 */
export function findOrder(
  { account }: Market,
  id: string,
  done: string,
  statuses: readonly OrderCode[],
): KeptOrder {
  const order = account.orders.get(id);
  if (!order) throw new Refusal('not_found', 'There is no such order.');
  const { status } = order.shown;
  if (order.is_closed || !statuses.includes(status)) {
    const state = order.is_closed ? 'closed' : STATES[status];
    throw new Refusal('state_invalid', `The order is ${state}, so it cannot be ${done}.`);
  }
  return order;
}

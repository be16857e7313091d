import { amount } from '../../api/parameters.js';
import type { KeptOrder } from '../state/kinds.js';
import { complete } from './completing.js';
import type { Market } from './market.js';
import { toText, toUnits } from './money.js';
import { changeOrder, findOrder, type OrderChanges } from './orders.js';
import { Refusal } from './refusal.js';

/** How an order is paid. */
export interface Paying {
  /** How much, in the order's currency. Less than what is owed makes it partially paid. Default: what is owed. */
  readonly value?: number | string | undefined;
  /** Leaves the payment of a wallet pending (55) until it is confirmed. Default `false`. */
  readonly pending?: boolean | undefined;
}

/**
 * Pays an order. It is then partially paid (53), awaits confirmations (54), is pending (55) or completed (100).
 *
 * @throws {Refusal}
 */
export function pay(market: Market, orderId: string, { value, pending }: Paying = {}): KeptOrder {
  const order = findOrder(market, orderId, 'paid', [0, 53]);
  const owed = toUnits(order.shown.value) - toUnits(order.received);
  if (value !== undefined && !amount.safeParse(value).success) {
    throw new Refusal('parameter_invalid', 'The value has to be a decimal number of money.');
  }
  const paid = value === undefined ? owed : toUnits(value);
  // What costs nothing is paid with nothing.
  if (paid < 0n || (paid === 0n && owed > 0n)) {
    throw new Refusal('parameter_invalid', 'The value has to be above 0.');
  }
  const changes = receive(order, paid);
  const isStepwise = market.unknowns.transitions === 'stepwise';
  return market.account.transact(() => {
    const changeTo = (status: 53 | 54 | 55) =>
      changeOrder(market, order, { ...changes, shown: { ...changes.shown, status } });
    if (paid < owed) return changeTo(53);
    const hasCoins = order.shown.crypto_value !== null;
    const waits = hasCoins ? order.confirmations_needed > 0 : pending === true;
    if (!waits && !isStepwise) return complete(market, apply(order, changes));
    const waiting = changeTo(hasCoins ? 54 : 55);
    return waits ? waiting : complete(market, waiting);
  });
}

/** What an order has received in all. */
function receive({ received, shown }: KeptOrder, paid: bigint): Required<OrderChanges> {
  const total = toUnits(received) + paid;
  const value = toUnits(shown.value);
  const coins = value === 0n ? 0n : (BigInt(shown.crypto_value ?? 0) * total) / value;
  return { shown: { crypto_received: Number(coins) }, kept: { received: toText(total) } };
}

function apply(order: KeptOrder, { shown, kept }: OrderChanges): KeptOrder {
  return { ...order, ...kept, shown: { ...order.shown, ...shown } };
}

/**
 * Gives a payment its next confirmations: of a cryptocurrency, until it has as many as it needs; of a wallet,
 * one is enough.
 *
 * @param confirmations - How many more there are. Default 1.
 * @throws {Refusal}
 */
export function confirm(market: Market, orderId: string, confirmations = 1): KeptOrder {
  const order = findOrder(market, orderId, 'confirmed', [54, 55]);
  const total = order.shown.crypto_confirmations + confirmations;
  return market.account.transact(() => {
    if (order.shown.status === 55) return complete(market, order);
    const confirmed = apply(order, { shown: { crypto_confirmations: total } });
    if (total >= order.confirmations_needed) return complete(market, confirmed);
    return changeOrder(market, confirmed, {});
  });
}

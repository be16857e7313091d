import type { KeptOrder } from '../state/kinds.js';
import { complete } from './complete.js';
import type { Market } from './market.js';
import { findDecimalsFault, toText, toUnits } from './money.js';
import { changeOrder, findOrder, type OrderChanges } from './orders.js';
import { Refusal } from './refusal.js';

/** How an order is paid. */
export interface Paying {
  /**
   * The amount, in the order's currency. Less than the amount owed leaves the order partially paid. Default: the
   * amount owed.
   */
  readonly value?: number | string | undefined;
  /** Leaves a wallet payment pending (55) until it is confirmed. Default `false`. */
  readonly pending?: boolean | undefined;
}

/**
 * Pays an order. The order is then partially paid (53), awaiting confirmations (54), pending (55) or completed
 * (100).
 *
 * @throws {Refusal}
 */
export function pay(market: Market, orderId: string, { value, pending }: Paying = {}): KeptOrder {
  const order = findOrder(market, orderId, 'paid', [0, 53]);
  const owed = toUnits(order.shown.value) - toUnits(order.received);
  const paid = value === undefined ? owed : readAmount(value, owed, order.shown.currency);
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

/** @throws {Refusal} */
function readAmount(value: number | string, owed: bigint, currency: string): bigint {
  const refuse = (wrong: string) => new Refusal('parameter_invalid', `The amount has to ${wrong}.`);
  if (!/^-?\d{1,20}(\.\d{1,20})?$/.test(`${value}`)) throw refuse('be a number such as 4.50');
  const paid = toUnits(value);
  // An order that costs nothing is paid with 0.
  if (paid < 0n || (paid === 0n && owed > 0n)) throw refuse('be above 0');
  if (paid > owed) throw refuse(`be at most ${toText(owed)} ${currency}, the amount owed`);
  const fault = findDecimalsFault(value, currency);
  if (fault !== undefined) throw refuse(fault);
  return paid;
}

/** Returns the changes that add a payment to the total received. */
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
 * Adds confirmations to a payment. A cryptocurrency payment completes with the number that it needs, a wallet
 * payment with one.
 *
 * @param confirmations - The number to add. Default 1.
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

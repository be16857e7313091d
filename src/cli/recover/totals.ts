import type { Recovered } from 'storefront-webhooks/recovery';
import { addDecimals } from './decimals.js';

/** How many deliveries were missed, and how many of them are done. */
export interface Counts {
  readonly missed: number;
  /** Missed deliveries that this run has handled. */
  readonly doneNow: number;
  /** Deliveries that were handled before: the log did not show it, or another process was faster. */
  readonly doneBefore: number;
}

/** The missed deliveries of an order, or of another record. */
export interface OrderTotal extends Counts {
  /** The id of the record, or of the delivery if the record has no id. */
  readonly id: string;
  readonly value: string | undefined;
  readonly currency: string | undefined;
}

/** The missed deliveries of a currency. Without a currency: those of records that are not orders. */
export interface CurrencyTotal extends Counts {
  readonly currency: string | undefined;
  readonly orders: number;
  /** The sum of the orders. `undefined` if no order has a value, or if a value is not a decimal. */
  readonly value: string | undefined;
}

const NOW: readonly string[] = ['handled'];
const BEFORE: readonly string[] = ['duplicate', 'settled'];

/** Returns a total for each order, in the order of the deliveries. */
export function totalByOrder(deliveries: readonly Recovered[]): OrderTotal[] {
  const totals = new Map<string, OrderTotal>();
  for (const { recordId, id, outcome, value, currency } of deliveries) {
    // A delivery without a handler was not missed.
    if (outcome === 'ignored') continue;
    const key = recordId ?? id;
    const before = totals.get(key);
    const one = {
      missed: 1,
      doneNow: NOW.includes(outcome) ? 1 : 0,
      doneBefore: BEFORE.includes(outcome) ? 1 : 0,
    };
    // The latest value counts.
    const worth = value === undefined && before ? before : { value, currency };
    totals.set(key, {
      id: key,
      ...addCounts(before ? [before, one] : [one]),
      value: worth.value,
      currency: worth.currency,
    });
  }
  return [...totals.values()];
}

export function totalByCurrency(orders: readonly OrderTotal[]): CurrencyTotal[] {
  const currencies = [...new Set(orders.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const its = orders.filter((order) => order.currency === currency);
    const values = its.flatMap(({ value }) => value ?? []);
    const value = values.length > 0 ? addDecimals(values) : undefined;
    return { currency, orders: its.length, ...addCounts(its), value };
  });
}

/** Adds up counts. */
export function addCounts(counts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, one) => total + one[name], 0);
  return { missed: sum('missed'), doneNow: sum('doneNow'), doneBefore: sum('doneBefore') };
}

import type { Recovered } from 'storefront-webhooks/recovery';
import { addDecimals } from './decimals.js';

/** How many deliveries were missed, and what became of them. */
export interface Counts {
  readonly missed: number;
  /** Handled by this run. */
  readonly doneNow: number;
  /** Handled before: the log did not know it, or somebody else was faster. */
  readonly doneBefore: number;
}

/** What was missed of an order, or of another record. */
export interface OrderTotal extends Counts {
  /** Of what has no id, that of the delivery. */
  readonly id: string;
  readonly value: string | undefined;
  readonly currency: string | undefined;
}

/** What was missed in a currency; without one: of records that are no orders. */
export interface CurrencyTotal extends Counts {
  readonly currency: string | undefined;
  readonly orders: number;
  /** Each order once. `undefined`: there is none, or one of them is no decimal. */
  readonly value: string | undefined;
}

const NOW: readonly string[] = ['handled'];
const BEFORE: readonly string[] = ['duplicate', 'settled'];

/** One for each order, as they came. */
export function totalByOrder(deliveries: readonly Recovered[]): OrderTotal[] {
  const totals = new Map<string, OrderTotal>();
  for (const { recordId, id, outcome, value, currency } of deliveries) {
    // What no handler is for was not missed.
    if (outcome === 'ignored') continue;
    const key = recordId ?? id;
    const before = totals.get(key);
    const one = {
      missed: 1,
      doneNow: NOW.includes(outcome) ? 1 : 0,
      doneBefore: BEFORE.includes(outcome) ? 1 : 0,
    };
    // What it is worth in the end.
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

/** One for each currency. */
export function totalByCurrency(orders: readonly OrderTotal[]): CurrencyTotal[] {
  const currencies = [...new Set(orders.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const its = orders.filter((order) => order.currency === currency);
    const values = its.flatMap(({ value }) => value ?? []);
    const value = values.length > 0 ? addDecimals(values) : undefined;
    return { currency, orders: its.length, ...addCounts(its), value };
  });
}

/** The sum of each. */
export function addCounts(counts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, one) => total + one[name], 0);
  return { missed: sum('missed'), doneNow: sum('doneNow'), doneBefore: sum('doneBefore') };
}

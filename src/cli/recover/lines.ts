import type { Recovered } from 'storefront-webhooks/recovery';
import { type Cell, toLine } from '../columns.js';
import type { Printer } from '../printer.js';
import type { CurrencyTotal, OrderTotal } from './totals.js';

const GOOD: readonly string[] = ['handled', 'ignored', 'duplicate', 'settled'];

/** Returns the line for a delivery in a terminal. */
export function deliveryLine(delivery: Recovered, { paint, columns }: Printer): string {
  const { sentAt, event, recordId = '', reason, outcome, id } = delivery;
  const time = sentAt.toISOString().slice(5, 16).replace('T', ' ');
  const colour = GOOD.includes(outcome) ? paint.green : paint.red;
  return toLine(
    [
      { text: time, width: 11, rank: 2, paint: paint.dim },
      { text: event, width: 13, rank: 6 },
      // The table below shows the whole id.
      { text: recordId, width: Math.min(24, Math.max(14, columns - 65)), rank: 7 },
      { text: toMoney(delivery), width: 10, rank: 3 },
      { text: reason, width: 10, rank: 4 },
      { text: outcome, width: 11, rank: 9, paint: outcome === 'listed' ? paint.bold : colour },
      { text: id, width: 24, rank: 0, paint: paint.dim },
    ],
    columns,
  );
}

/** How many orders the table shows, unfinished ones first. The lines above show all. */
const MAX_ORDERS = 40;

/** Returns the table of missed deliveries: a line for each order, and the sum of each currency. */
export function tableLines(
  orders: readonly OrderTotal[],
  currencies: readonly CurrencyTotal[],
  { paint, columns }: Printer,
): string[] {
  if (orders.length === 0) return [];
  const toRow = (cells: readonly string[], colour?: Cell['paint']) =>
    toLine(
      cells.map((text, at) => ({ text, ...(WIDTHS[at] ?? { width: 1, rank: 0 }), paint: colour })),
      columns,
    );
  const isLeft = ({ missed, doneNow, doneBefore }: OrderTotal) => missed > doneNow + doneBefore;
  const sorted = [...orders.filter(isLeft), ...orders.filter((order) => !isLeft(order))];
  const more = sorted.length - MAX_ORDERS;
  const row = (name: string, total: OrderTotal | CurrencyTotal) =>
    [name, total.missed, total.doneNow, total.doneBefore, toMoney(total)].map(String);
  // "in all" may occur only once, or two sums would claim to be the total.
  const ofWhich = ({ currency }: CurrencyTotal) => {
    if (currencies.length === 1) return 'in all';
    return currency === undefined ? 'without money' : `in ${currency}`;
  };
  return [
    '',
    toRow(['order', 'missed', 'done now', 'done before', 'money'], paint.bold),
    ...sorted
      .slice(0, MAX_ORDERS)
      .map((order) => toRow(row(order.id, order), isLeft(order) ? paint.red : undefined)),
    ...(more > 0 ? [paint.dim(`and ${more} more`)] : []),
    ...currencies.map((total) =>
      toRow(row(`${total.orders} ${ofWhich(total)}`, total), paint.bold),
    ),
  ];
}

const WIDTHS = [
  { width: 24, rank: 9 },
  { width: 6, rank: 8 },
  { width: 8, rank: 7 },
  { width: 11, rank: 6 },
  { width: 14, rank: 5 },
] as const;

function toMoney({
  value,
  currency,
}: {
  readonly value: string | undefined;
  readonly currency: string | undefined;
}): string {
  return currency === undefined ? (value ?? '') : `${value ?? '?'} ${currency}`;
}

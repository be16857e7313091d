import type { StoredDelivery } from 'storefront-webhooks';
import { printable } from '../../errors/text.js';
import { toLine } from '../columns.js';
import type { Printer } from '../printer.js';

/** Returns the part of a delivery that lists show: no content but the id of the order. */
export function toRecord({ body: _, proof: __, email: ___, ...told }: StoredDelivery): object {
  return told;
}

/** Returns the line for a delivery in a terminal. `action`, such as `put back`, replaces the state. */
export function deliveryLine(
  delivery: StoredDelivery,
  { columns, paint }: Printer,
  action?: string,
): string {
  const { event, key, orderId = '', attempts, receivedAt, state } = delivery;
  const first = action ?? state;
  return toLine(
    [
      { text: first, width: Math.max(7, first.length), rank: 9, paint: paint.bold },
      { text: toTime(receivedAt).slice(5), width: 11, rank: 3, paint: paint.dim },
      { text: event, width: 13, rank: 6 },
      { text: orderId, width: 14, rank: 8 },
      { text: `${attempts}×`, width: 3, rank: 4, paint: paint.dim },
      { text: key.slice(0, 12), width: 12, rank: 2, paint: paint.dim },
      { text: errorOf(delivery), width: 16, rank: 5, paint: paint.red },
    ],
    columns,
  );
}

/** Returns the lines for a delivery with all its details and its content. */
export function wholeLines(delivery: StoredDelivery, body: string, { paint }: Printer): string[] {
  const { state, event, id, key, scope, orderId, attempts, interrupted, receivedAt } = delivery;
  const about = {
    state,
    event,
    order: orderId,
    received: toTime(receivedAt),
    attempts: interrupted ? `${attempts}, the last one interrupted` : attempts,
    error: errorOf(delivery) || undefined,
    webhook: id,
    key,
    receiver: scope || undefined,
  };
  const facts = Object.entries(about).filter(([, value]) => value !== undefined);
  return [
    ...facts.map(([name, value]) => `${paint.dim(name.padEnd(9))} ${printable(`${value}`, 1000)}`),
    '',
    ...indented(body)
      .split('\n')
      .map((text) => printable(text, 100_000)),
  ];
}

const toTime = (date: Date) => date.toISOString().slice(0, 16).replace('T', ' ');

const errorOf = ({ error, interrupted }: StoredDelivery) =>
  error ?? (interrupted ? 'interrupted, as by a crash' : '');

/** Indents JSON. A text that is not valid JSON, or has numbers that would be rounded, stays as it is. */
function indented(body: string): string {
  if (/\d{16}/.test(body)) return body;
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

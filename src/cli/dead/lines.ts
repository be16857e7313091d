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

/** Empty brackets, and white space, are tokens as a whole. A string never is: see exact-json.ts. */
const TOKEN = /\\u[dD][89abAB]..\\u....|\\u....|\\.|"|[{[]\s*[}\]]|[{}[\],:]|\s+/g;
/** Deeper levels are not indented further: the lines of a thousand levels would hold a million spaces. */
const MAX_INDENTED = 20;

/**
 * Indents JSON, and writes texts without needless escapes. Changes no value: parsing it would round numbers, and drop
 * the first of two members with the same name. A text that is not valid JSON stays as it is.
 */
function indented(body: string): string {
  try {
    JSON.parse(body);
  } catch {
    return body;
  }
  let isInString = false;
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, MAX_INDENTED))}`;
  return body.replace(TOKEN, (token) => {
    if (token === '"') isInString = !isInString;
    if (token.startsWith('\\')) return JSON.stringify(JSON.parse(`"${token}"`)).slice(1, -1);
    if (isInString || token === '"') return token;
    if (token === ':') return ': ';
    if (token === ',') return `,${line()}`;
    if (token === '{' || token === '[') {
      depth += 1;
      return token + line();
    }
    if (token === '}' || token === ']') {
      depth -= 1;
      return line() + token;
    }
    return token.replace(/\s+/, '');
  });
}

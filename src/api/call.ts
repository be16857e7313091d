import { toSentence } from '../errors/docs-link.js';
import type { Endpoint } from './endpoint.js';

/** A call of a method of the client. */
export interface Call {
  readonly operation: string;
  readonly method: Endpoint['method'];
  /** Whether it is harmless to carry out the call twice. */
  readonly isRepeatable: boolean;
}

/**
 * @param form - The parameters that the call sends.
 * @param known - The names of the parameters that the specification names.
 */
export function toCall(
  operation: string,
  method: Endpoint['method'],
  form = '',
  known: readonly string[] = [],
): Call {
  const isRepeatable =
    method !== 'POST' && !(operation === 'products.update' && maySetStock(form, known));
  return { operation, method, isRepeatable };
}

/**
 * Returns whether a change of a product may set what is left to sell. If a customer buys between two such changes,
 * the second one puts the sold item back in stock. A parameter that the specification does not name may do
 * anything.
 */
function maySetStock(form: string, known: readonly string[]): boolean {
  return [...new URLSearchParams(form).keys()]
    .map((name) => name.replace(/\[.*/s, ''))
    .some((name) => name === 'info' || name === 'stock_amount' || !known.includes(name));
}

/**
 * Adds a warning to the message of an error, if the call must not be carried out twice and the answer does not
 * prove that nothing was done. A gateway can answer 5xx after the service has done the work; a 4xx turns the
 * call away.
 *
 * @param status - `undefined` if there was no complete answer.
 */
export function withWarning(message: string, { isRepeatable }: Call, status?: number): string {
  const isTurnedAway = status !== undefined && status >= 400 && status < 500;
  if (isRepeatable || isTurnedAway) return message;
  return `${toSentence(message)} The request may have been carried out: check before you send it again.`;
}

import type { KeptFeedback, KeptQuery } from '../state/kinds.js';
import type { Market } from './market.js';

/** A customer asks the seller something: `query:created`. */
export function ask(
  _market: Market,
  _question: { readonly email: string; readonly title: string; readonly message: string },
): KeptQuery {
  throw new Error('Not built yet.');
}

/** The seller replies (`query:replied`), or the customer writes again (`query:updated`). @throws {Refusal} */
export function write(
  _market: Market,
  _queryId: string,
  _message: { readonly from: 'customer' | 'seller'; readonly text: string },
): KeptQuery {
  throw new Error('Not built yet.');
}

/** What a customer says of a completed order: `feedback:created`, and `feedback:updated` from then on. @throws {Refusal} */
export function rate(
  _market: Market,
  _orderId: string,
  _feedback: { readonly rating: number; readonly message: string },
): KeptFeedback {
  throw new Error('Not built yet.');
}

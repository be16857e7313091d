import type { KeptFeedback, KeptQuery } from '../state/kinds.js';
import { newId } from './ids.js';
import type { Market } from './market.js';
import { findOrder } from './orders.js';
import { Refusal } from './refusal.js';
import { showFeedback, showQuery } from './to-json.js';
import { sendRecord } from './webhooks-for.js';

/**
 * Creates a customer's query to the seller, and sends `query:created`.
 *
 * @param id - The id of the query. Default: a new one.
 */
export function ask(
  market: Market,
  question: { readonly email: string; readonly title: string; readonly message: string },
  id = newId('qry'),
): KeptQuery {
  const { account, unknowns } = market;
  const now = account.clock.timestamp();
  const { email, title, message } = question;
  return account.transact(() => {
    const query = account.queries.put({
      id,
      email,
      title,
      status: 'open',
      messages: [{ from: 'customer', text: message, created_at: now }],
      created_at: now,
      updated_at: now,
    });
    sendRecord(market, 'query:created', query, showQuery(query, unknowns));
    return query;
  });
}

/**
 * Adds the seller's reply (`query:replied`) or another message of the customer (`query:updated`). @throws
 * {Refusal}
 */
export function write(
  market: Market,
  queryId: string,
  { from, text }: { readonly from: 'customer' | 'seller'; readonly text: string },
): KeptQuery {
  const { account, unknowns } = market;
  const before = account.queries.get(queryId);
  if (!before) throw new Refusal('not_found', 'There is no such query.');
  const now = account.clock.timestamp();
  return account.transact(() => {
    const query = account.queries.put({
      ...before,
      status: from === 'seller' ? 'replied' : 'open',
      messages: [...before.messages, { from, text, created_at: now }],
      updated_at: now,
    });
    const event = from === 'seller' ? 'query:replied' : 'query:updated';
    sendRecord(market, event, query, showQuery(query, unknowns));
    return query;
  });
}

/**
 * Stores a customer's feedback on a completed order. Sends `feedback:created`, or `feedback:updated` for a
 * change.
 *
 * @throws {Refusal}
 */
export function rate(
  market: Market,
  orderId: string,
  { rating, message }: { readonly rating: number; readonly message: string },
): KeptFeedback {
  const { account, unknowns } = market;
  const { shown } = findOrder(market, orderId, 'rated', [100]);
  const now = account.clock.timestamp();
  const before = findFeedback(market, orderId);
  return account.transact(() => {
    const feedback = account.feedback.put({
      id: feedbackId(orderId),
      order_id: orderId,
      product_id: shown.product_id,
      rating,
      message,
      reply: before?.reply ?? null,
      created_at: before?.created_at ?? now,
      updated_at: now,
    });
    const event = before ? 'feedback:updated' : 'feedback:created';
    sendRecord(market, event, feedback, showFeedback(feedback, unknowns));
    return feedback;
  });
}

/** Returns the customer's feedback on an order. */
export function findFeedback({ account }: Market, orderId: string): KeptFeedback | undefined {
  return account.feedback.get(feedbackId(orderId));
}

/** Returns the id of an order's feedback. An order has at most one, so the order's id identifies it. */
function feedbackId(orderId: string): string {
  return `fbk_${orderId.replace(/^ord_/, '')}`;
}

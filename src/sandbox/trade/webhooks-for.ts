import type { JsonObject } from '../../schemas/values.js';
import type { KeptOrder } from '../state/kinds.js';
import type { EventName, Market } from './market.js';

/** Sends the webhooks for an order that was created or updated. */
export function sendOrder(
  market: Market,
  event: 'order:created' | 'order:updated',
  order: KeptOrder,
): void {
  const urls = event === 'order:created' ? [] : urlsOf(market, order);
  market.outbox.announce({ event, payload: { ...order.shown }, urls });
}

/**
 * Sends `order:paid` for an order and, unless `emission` is `paid-alone`, also `order:updated`. The
 * `webhook_url` of a product or a payment gets each status once.
 */
export function sendPaid(market: Market, order: KeptOrder): void {
  const isBoth = market.unknowns.emission === 'both';
  if (isBoth) sendOrder(market, 'order:updated', order);
  const urls = isBoth ? [] : urlsOf(market, order);
  market.outbox.announce({ event: 'order:paid', payload: { ...order.shown }, urls });
}

/**
 * Returns the URLs that receive order status updates in addition to the webhook endpoints (specification:
 * Events).
 */
function urlsOf({ account }: Market, { id, shown }: KeptOrder): string[] {
  const records = [account.products.get(shown.product_id), account.payments.get(id)];
  return records.flatMap((record) => record?.webhook_url ?? []);
}

/** Sends the webhooks for another record, whose payload the specification does not show. */
export function sendRecord(
  market: Market,
  event: EventName,
  record: { readonly id: string; readonly updated_at: string },
  shown: JsonObject,
): void {
  const { id, updated_at } = record;
  const payload = market.unknowns.eventPayloads === 'record' ? shown : { id, updated_at };
  market.outbox.announce({ event, payload, urls: [] });
}

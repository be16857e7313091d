import type { KeptOrder } from '../state/kinds.js';
import type { Market } from './market.js';
import { changeOrder, findOrder } from './orders.js';
import { Refusal } from './refusal.js';

/** Completes an order that was paid (100), and delivers its goods. */
export function complete(market: Market, order: KeptOrder): KeptOrder {
  const product = market.account.products.get(order.shown.product_id);
  const isDynamic = product?.product_type === 'dynamic' && product.dynamic_url !== null;
  const goods = order.held.length > 0 ? order.held.join('\n') : (product?.file?.url ?? null);
  const completed = changeOrder(market, order, {
    shown: { status: 100, delivered: goods },
    kept: { held: [], taken: 0 },
  });
  if (isDynamic) market.supplier.supply(completed, product);
  return completed;
}

/**
 * Delivers the goods from `dynamic_url` to the order of a dynamic product, and sends `order:updated`.
 *
 * @throws {Refusal}
 */
export function deliver(market: Market, orderId: string, goods: string): KeptOrder {
  const order = findOrder(market, orderId, 'delivered', [100]);
  if (order.shown.delivered !== null) {
    throw new Refusal('state_invalid', 'The order has been delivered already.');
  }
  return market.account.transact(() => changeOrder(market, order, { shown: { delivered: goods } }));
}

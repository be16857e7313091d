import type { KeptOrder, KeptProduct } from '../state/kinds.js';
import type { Market } from './market.js';
import { Refusal } from './refusal.js';
import { serialsOf, stockOf } from './stock.js';
import { showProduct } from './to-json.js';
import { sendRecord } from './webhooks-for.js';

type Held = Pick<KeptOrder, 'held' | 'taken'>;

/**
 * Reserves goods for an order by taking them out of stock. Sends `product:out_of_stock` if they were the last
 * ones.
 *
 * @throws {Refusal} `out_of_stock`
 */
export function hold(market: Market, product: KeptProduct, quantity: number): Held {
  const stock = stockOf(product);
  if (stock === '∞') return { held: [], taken: 0 };
  if (stock < quantity) {
    throw new Refusal('out_of_stock', `There are ${stock} in stock, and ${quantity} were ordered.`);
  }
  const serials = product.product_type === 'serials' ? serialsOf(product) : [];
  const held = serials.splice(0, quantity);
  const left = changeStock(market, product, serials, -quantity);
  if (stock === quantity) {
    sendRecord(market, 'product:out_of_stock', left, showProduct(left, market.unknowns));
  }
  return { held, taken: quantity };
}

/** Returns the reserved goods of an order to stock, if the product still exists. */
export function release(market: Market, { shown, held, taken }: KeptOrder): Held {
  const product = market.account.products.get(shown.product_id);
  if (product && taken > 0) changeStock(market, product, [...serialsOf(product), ...held], taken);
  return { held: [], taken: 0 };
}

function changeStock(
  { account }: Market,
  product: KeptProduct,
  serials: readonly string[],
  difference: number,
): KeptProduct {
  const { product_type, stock_amount, stock_delimiter } = product;
  const changes =
    product_type === 'serials'
      ? { info: serials.join(stock_delimiter) }
      : { stock_amount: stock_amount === null ? null : stock_amount + difference };
  return account.products.put({ ...product, ...changes, updated_at: account.clock.timestamp() });
}

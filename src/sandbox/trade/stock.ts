import type { KeptProduct } from '../state/kinds.js';

type Stocked = Pick<KeptProduct, 'product_type' | 'info' | 'stock_delimiter' | 'stock_amount'>;

/** Returns how many are left; `∞` if the stock is not counted (specification: Product). */
export function stockOf(product: Stocked): number | '∞' {
  if (product.product_type === 'serials') return serialsOf(product).length;
  return product.product_type === 'file' ? (product.stock_amount ?? '∞') : '∞';
}

/** Returns the goods of the type serials: `info`, split by `stock_delimiter`. */
export function serialsOf({ info, stock_delimiter }: Stocked): string[] {
  const serials = (info ?? '').split(stock_delimiter).map((serial) => serial.trim());
  return serials.filter((serial) => serial !== '');
}

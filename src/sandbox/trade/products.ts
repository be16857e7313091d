import type { KeptProduct } from '../state/kinds.js';
import type { Market } from './market.js';

/** A product that a customer can reach, which a private one of the newer variant is not (specification: Product). */
export function findProduct({ account, unknowns }: Market, id: string): KeptProduct | undefined {
  const product = account.products.get(id);
  // The older variant's private products are only not shown in any listing.
  return product?.private && unknowns.variant === 'newer' ? undefined : product;
}

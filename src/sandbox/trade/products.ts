import type { KeptProduct } from '../state/kinds.js';
import type { Market } from './market.js';

/** A product that a customer can reach, which a private one of the newer variant is not (specification: Product). */
export function findProduct({ account, unknowns }: Market, id: string): KeptProduct | undefined {
  const product = account.products.get(id);
  // The older variant's private products are only not shown in any listing.
  return product?.private && unknowns.variant === 'newer' ? undefined : product;
}

/** A product of which nothing was said. */
export const EMPTY_PRODUCT: Omit<KeptProduct, 'id' | 'created_at' | 'updated_at'> = {
  title: '',
  description: '',
  price: '0.00',
  currency: 'USD',
  product_type: 'service',
  gateways: [],
  image: null,
  info: null,
  file: null,
  stock_delimiter: ',',
  maximum_quantity: null,
  minimum_quantity: 1,
  stock_amount: null,
  dynamic_url: null,
  custom: [],
  customer_details_required: false,
  warranty: null,
  warranty_duration: null,
  redirect_url: null,
  unlisted: false,
  private: false,
  hide_stock: false,
  vpn_block: false,
  seller_note: null,
  max_risk_level: 30,
  crypto_confirmations: 1,
  webhook_url: null,
};

import type { KeptProduct } from '../state/kinds.js';
import type { Market } from './market.js';

/**
 * Returns a product that a customer can reach. A private one of the newer variant cannot be reached
 * (specification: Product).
 */
export function findProduct({ account, unknowns }: Market, id: string): KeptProduct | undefined {
  const product = account.products.get(id);
  // In the older variant, listings do not show a private product, but customers can reach it.
  return product?.private && unknowns.variant === 'newer' ? undefined : product;
}

/** The defaults of a product. */
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

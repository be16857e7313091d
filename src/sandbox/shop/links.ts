import type { Account } from '../state/account.js';

/** The addresses of a shop's pages. */
export interface ShopLinks {
  readonly home: string;
  readonly contact: string;
  readonly webhooks: string;
  category(id: string): string;
  product(id: string): string;
  checkout(orderId: string): string;
  query(id: string): string;
}

export function linksOf({ name }: Account): ShopLinks {
  const home = `/shop/${encodeURIComponent(name)}`;
  const to = (page: string) => (id: string) => `${home}/${page}/${encodeURIComponent(id)}`;
  return {
    home,
    contact: `${home}/contact`,
    webhooks: `${home}/webhooks`,
    category: to('category'),
    product: to('product'),
    checkout: to('checkout'),
    query: to('contact'),
  };
}

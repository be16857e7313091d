import type { Account } from '../state/account.js';

/** Where the pages of a shop are. */
export interface ShopLinks {
  readonly home: string;
  readonly contact: string;
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
    category: to('category'),
    product: to('product'),
    checkout: to('checkout'),
    query: to('contact'),
  };
}

/**
 * An address of the seller's that a customer can be sent to; `undefined` for any other, such as one that begins
 * with `javascript:`.
 */
export function toLink(address: string | null | undefined): URL | undefined {
  if (!address || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  // A host can hold what would end a source in a Content-Security-Policy.
  return /^https?:\/\/[\w.:[\]-]+$/.test(url.origin) ? url : undefined;
}

import { withoutQuery } from './addresses.js';
import type { SourceSettings } from './source.js';

/**
 * The orders that the log mentions as paid: at any address or, if each address is a shop of its own, at all
 * of them.
 */
export class OrdersInLog {
  readonly #addresses: readonly (string | undefined)[];
  readonly #logged = new Set<string>();

  constructor({ receiver, urls }: Pick<SourceSettings, 'receiver' | 'urls'>) {
    this.#addresses = receiver.findsShop && urls.length > 1 ? urls.map(withoutQuery) : [];
  }

  add(orderId: string, url: string | undefined): void {
    this.#logged.add(
      this.#addresses.length === 0 ? orderId : toKey(orderId, withoutQuery(url ?? '')),
    );
  }

  has(orderId: string): boolean {
    if (this.#addresses.length === 0) return this.#logged.has(orderId);
    return this.#addresses.every((address) => this.#logged.has(toKey(orderId, address)));
  }
}

function toKey(orderId: string, address: string | undefined): string {
  return `${address} ${orderId}`;
}

// The receiver of several shops. The query of the address names the shop.
import Database from 'libsql';
import { createReceiver } from 'storefront-webhooks';
import { sqliteStore } from 'storefront-webhooks/sqlite';

export function receiver() {
  const { SHOP_DATABASE = '', SHOP_SECRET = '' } = process.env;
  return createReceiver({
    secret({ url = '' }) {
      const scope = new URLSearchParams(url.split('?')[1]).get('shop');
      return scope === null ? null : { secret: SHOP_SECRET, scope };
    },
    store: sqliteStore(new Database(SHOP_DATABASE)),
  }).on('order:paid', () => {});
}

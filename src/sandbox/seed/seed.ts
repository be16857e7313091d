import { Account } from '../state/account.js';
import type { Identified, Records } from '../state/records.js';
import type { Market } from '../trade/market.js';
import { EMPTY_PRODUCT } from '../trade/products.js';
import { Refusal } from '../trade/refusal.js';
import { CATALOGUE, CATEGORIES, idOf } from './catalogue.js';
import { play } from './history.js';

const GATEWAYS = ['paypal', 'stripe', 'skrill', 'bitcoin', 'ethereum', 'litecoin'];

const WEEK = 7 * 86_400_000;

/**
 * Fills an empty account with a shop that has sold for some days. The shop is the same each time, and no webhook
 * is sent about its past.
 *
 * @throws {Refusal} `state_invalid`, if the account has any records of a shop.
 */
export async function seed(market: Market): Promise<void> {
  const { account } = market;
  const now = account.clock.now();
  // The account as if it had existed for a week.
  const past = new Account(account.key, { clock: 'manual', start: now - WEEK });
  stock(past);
  await play({ ...market, account: past, outbox: NOBODY, supplier: NOBODY }, now);
  account.transact(() => {
    refuseUsed(account);
    copy(past.products, account.products);
    copy(past.categories, account.categories);
    copy(past.orders, account.orders);
    copy(past.blacklist, account.blacklist);
    copy(past.queries, account.queries);
    copy(past.feedback, account.feedback);
  });
}

const NOBODY = { announce: () => {}, takes: () => true, idle: async () => {}, supply: () => {} };

function refuseUsed(account: Account): void {
  const { products, categories, orders, blacklist, queries, feedback } = account;
  const kinds = [products, categories, orders, blacklist, queries, feedback];
  if (kinds.every(({ size }) => size === 0)) return;
  throw new Refusal(
    'state_invalid',
    'The account has a shop already, and only an empty account can be filled. POST /sandbox/reset empties it.',
  );
}

function stock(account: Account): void {
  const dates = account.clock.dates();
  for (const [name, fields] of Object.entries(CATALOGUE).reverse()) {
    account.products.put({
      ...EMPTY_PRODUCT,
      currency: 'EUR',
      gateways: GATEWAYS,
      ...fields,
      id: idOf('prd', name),
      ...dates,
    });
  }
  for (const { title, items } of CATEGORIES) {
    const product_ids = items.map((name) => idOf('prd', name));
    const id = idOf('cat', title);
    account.categories.put({ id, title, product_ids, unlisted: false, image: null, ...dates });
  }
}

function copy<T extends Identified>(from: Records<T>, to: Records<T>): void {
  for (const record of [...from].reverse()) to.put(record);
}

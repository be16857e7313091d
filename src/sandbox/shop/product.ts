import { html } from 'hono/html';
import type { KeptProduct } from '../state/kinds.js';
import { buy } from '../trade/buy.js';
import type { Market } from '../trade/market.js';
import { findProduct } from '../trade/products.js';
import { Refusal } from '../trade/refusal.js';
import { stockOf } from '../trade/stock.js';
import { formatDuration, formatPrice } from './amounts.js';
import { linksOf, toLink } from './links.js';
import { stockNote } from './listing.js';
import { goTo, type Html, show } from './page.js';
import { orderForm } from './product-form.js';
import { readPurchase } from './purchase.js';
import { absent, type Visit } from './visit.js';

/** A product, and the form to order it. A link can fill in its fields by their names. */
export function showProduct(visit: Visit): Promise<Response> {
  const product = findProduct(visit.market, visit.id);
  if (!product) return absent(visit.market.account, NO_PRODUCT);
  return page(visit, product);
}

/** Orders it, and leads to the checkout. */
export async function orderProduct(visit: Visit): Promise<Response> {
  const { market, id, form, headers } = visit;
  const product = findProduct(market, id);
  if (!product) return absent(market.account, NO_PRODUCT);
  try {
    const order = buy(market, readPurchase(product, form, headers));
    return goTo(linksOf(market.account).checkout(order.id));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return page(visit, product, sentenceOf(error, product));
  }
}

const NO_PRODUCT = 'There is no such product, or it is private.';

/** What a customer is told, who may not be told how many there are. */
function sentenceOf({ code, message }: Refusal, { hide_stock }: KeptProduct): string {
  return code === 'out_of_stock' && hide_stock ? 'There are not as many in stock.' : message;
}

function page({ market, form, headers }: Visit, product: KeptProduct, refused?: string) {
  const { title, description, price, currency } = product;
  const image = toLink(product.image?.url);
  const typed = new URLSearchParams(form);
  if (!typed.has('referral')) typed.set('referral', headers.get('referer') ?? '');
  return show({
    title,
    account: market.account,
    status: refused === undefined ? 200 : 400,
    refused,
    body: html`<div class="columns">
<div>
<h1>${title}</h1>
<p><span class="price">${formatPrice(price, currency)}</span> ${stockNote(product)}</p>
${image?.protocol === 'https:' && html`<img src="${image.href}" alt="${title}">`}
<p class="text">${description}</p>
${warranty(product)}
</div>
<section class="card" aria-labelledby="order">
<h2 id="order">Order</h2>
${stockOf(product) === 0 ? html`<p>This product is out of stock. Come back later.</p>` : orOrder(market, product, typed)}
</section>
</div>`,
  });
}

function orOrder(market: Market, product: KeptProduct, typed: URLSearchParams): Html {
  return (
    orderForm(market, product, typed) ??
    html`<p>It cannot be paid: none of its payment gateways is configured in the account.</p>`
  );
}

function warranty({ warranty, warranty_duration }: KeptProduct): Html | false {
  const lasts =
    warranty_duration !== null && html`<p>It lasts ${formatDuration(warranty_duration)}.</p>`;
  if (!warranty && !lasts) return false;
  return html`<h2>Warranty</h2>${warranty && html`<p class="text">${warranty}</p>`}${lasts}`;
}

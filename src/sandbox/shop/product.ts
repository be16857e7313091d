import { html } from 'hono/html';
import type { KeptProduct } from '../state/kinds.js';
import { buy } from '../trade/buy.js';
import { toLink } from '../trade/link.js';
import type { Market } from '../trade/market.js';
import { findProduct } from '../trade/products.js';
import { Refusal, type RefusalCode } from '../trade/refusal.js';
import { stockOf } from '../trade/stock.js';
import { formatDuration, formatPrice } from './amounts.js';
import { linksOf } from './links.js';
import { showMarkdown } from './markdown.js';
import { goTo, type Html, show } from './page.js';
import { orderForm } from './product-form.js';
import { stockNote } from './product-list.js';
import { readPurchase } from './purchase.js';
import { type Filled, filledOf, refuse } from './refused.js';
import { absent, type Visit } from './visit.js';

/** Shows a product, and the form to order it. A link can fill in the fields by their names. */
export function showProduct(visit: Visit): Promise<Response> {
  const product = findProduct(visit.market, visit.id);
  if (!product) return absent(visit.market.account, NO_PRODUCT);
  return page(visit, product);
}

/** Creates the order, and redirects to its checkout. */
export async function orderProduct(visit: Visit): Promise<Response> {
  const { market, id, form, headers } = visit;
  const product = findProduct(market, id);
  if (!product) return absent(market.account, NO_PRODUCT);
  const { purchase, faults } = readPurchase(product, form, headers);
  if (faults.length > 0) return refuse(visit, ...faults);
  try {
    const order = buy(market, purchase);
    return goTo(linksOf(market.account).checkout(order.id));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(visit, { sentence: sentenceOf(error, product), field: FIELDS[error.code] });
  }
}

const NO_PRODUCT = 'There is no such product, or it is private.';

/** The field at fault, by the code of the refusal. */
const FIELDS: Readonly<Partial<Record<RefusalCode, string>>> = {
  gateway_unavailable: 'gateway',
  out_of_stock: 'quantity',
  parameter_invalid: 'quantity',
  vpn_blocked: 'vpn',
};

/** Returns the customer's message for a refusal. The message does not reveal a hidden stock. */
function sentenceOf({ code, message }: Refusal, { hide_stock }: KeptProduct): string {
  return code === 'out_of_stock' && hide_stock
    ? 'There are fewer in stock than you want to order.'
    : message;
}

function page(visit: Visit, product: KeptProduct) {
  const { market, headers } = visit;
  const { title, description, price, currency } = product;
  const image = toLink(product.image?.url);
  const { faults, ...filled } = filledOf(visit);
  const typed = new URLSearchParams(filled.typed);
  if (!typed.has('referral')) typed.set('referral', headers.get('referer') ?? '');
  return show({
    title,
    account: market.account,
    faults,
    body: html`<div class="columns">
<div>
<h1>${title}</h1>
<p><span class="price">${formatPrice(price, currency)}</span> ${stockNote(product)}</p>
${image?.protocol === 'https:' && html`<img src="${image.href}" alt="${title}">`}
<div class="description">${showMarkdown(description)}</div>
${warranty(product)}
</div>
<section class="card" aria-labelledby="order">
<h2 id="order">Order</h2>
${stockOf(product) === 0 ? html`<p>This product is out of stock. Come back later.</p>` : orOrder(market, product, { typed, faults })}
</section>
</div>`,
  });
}

function orOrder(market: Market, product: KeptProduct, filled: Filled): Html {
  return (
    orderForm(market, product, filled) ??
    html`<p>This product cannot be paid: none of its payment gateways is configured in the account.</p>`
  );
}

function warranty({ warranty, warranty_duration }: KeptProduct): Html | false {
  const lasts =
    warranty_duration !== null &&
    html`<p>The warranty lasts ${formatDuration(warranty_duration)}.</p>`;
  if (!warranty && !lasts) return false;
  return html`<h2>Warranty</h2>${warranty && html`<p class="text">${warranty}</p>`}${lasts}`;
}

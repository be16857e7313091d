import { html } from 'hono/html';
import type { KeptProduct } from '../state/kinds.js';
import type { Market } from '../trade/market.js';
import { stockOf } from '../trade/stock.js';
import { formatPrice } from './amounts.js';
import { curlCredentials } from './curl.js';
import { linksOf } from './links.js';
import { type Html, show } from './page.js';
import { absent, type Visit } from './visit.js';

/** Shows the listed products, by category. */
export function showShop({ market, origin }: Visit): Promise<Response> {
  const { account } = market;
  const products = listed([...account.products]);
  const sections = [...account.categories]
    .filter(({ unlisted }) => !unlisted)
    .map(({ title, product_ids }) => ({ title, products: pick(products, product_ids) }))
    .filter((section) => section.products.length > 0);
  const placed = new Set(sections.flatMap((section) => section.products));
  const rest = products.filter((product) => !placed.has(product));
  const title = sections.length > 0 ? 'More products' : 'All products';
  const all = rest.length > 0 ? [...sections, { title, products: rest }] : sections;
  return show({
    title: 'Products',
    account,
    body: html`<h1>Products</h1>${
      all.length > 0
        ? all.map((section) => html`<h2>${section.title}</h2>${list(market, section.products)}`)
        : howToCreate(market, origin)
    }`,
  });
}

/** Shows a category at its own address, even an unlisted one. */
export function showCategory({ market, id }: Visit): Promise<Response> {
  const { account } = market;
  const category = account.categories.get(id);
  if (!category) return absent(account, 'There is no such category.');
  const products = pick(listed([...account.products]), category.product_ids);
  return show({
    title: category.title,
    account,
    body: html`<h1>${category.title}</h1>${
      products.length > 0 ? list(market, products) : html`<p>This category is empty.</p>`
    }`,
  });
}

/**
 * Returns the products that a listing shows: in both variants, neither unlisted nor private ones (specification:
 * Product).
 */
function listed(products: readonly KeptProduct[]): KeptProduct[] {
  return products.filter((product) => !product.unlisted && !product.private);
}

/** Returns the products with some ids, in the order of the ids. */
function pick(products: readonly KeptProduct[], ids: readonly string[]): KeptProduct[] {
  return ids.flatMap((id) => products.find((product) => product.id === id) ?? []);
}

function list({ account }: Market, products: readonly KeptProduct[]): Html {
  const links = linksOf(account);
  return html`<ul class="products">${products.map(
    (product) => html`<li>
<h3><a href="${links.product(product.id)}">${product.title}</a></h3>
<p><span class="price">${formatPrice(product.price, product.currency)}</span>${stockNote(product)}</p>
</li>`,
  )}</ul>`;
}

/** Returns how many are left, or only whether any are left if the stock is hidden or not counted. */
export function stockNote(product: KeptProduct): Html {
  const stock = stockOf(product);
  if (stock === 0) return html`<span class="bad">Out of stock</span>`;
  const isShown = stock !== '∞' && !product.hide_stock;
  return html`<span class="muted">${isShown ? `${stock} in stock` : 'In stock'}</span>`;
}

function howToCreate({ account, unknowns }: Market, origin: string): Html {
  const type = unknowns.variant === 'older' ? 2 : 'serials';
  return html`<p>There are no products to list. Create one:</p>
<pre>curl ${origin}/api/v2/products ${curlCredentials(unknowns, account.key)} \\
  -d title='First product' -d description='It works.' -d price=9.90 -d currency=EUR \\
  -d product_type=${type} -d info=AAA-1,BBB-2 -d 'gateways[0]=paypal' -d 'gateways[1]=bitcoin'</pre>`;
}

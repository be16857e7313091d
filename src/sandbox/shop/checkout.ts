import { html } from 'hono/html';
import type { KeptOrder } from '../state/kinds.js';
import { Refusal } from '../trade/refusal.js';
import { act } from './actions.js';
import { formatCoins, formatPrice, owedOf } from './amounts.js';
import { choices } from './choices.js';
import { feedbackForm } from './feedback.js';
import { linksOf, toLink } from './links.js';
import { goTo, type Html, show } from './page.js';
import { describeStatus } from './status.js';
import { absent, type Visit } from './visit.js';

/** The hosted checkout of an order, whether it is of a product or of a payment. */
export function showCheckout(visit: Visit): Promise<Response> {
  const order = visit.market.account.orders.get(visit.id);
  if (!order) return absent(visit.market.account, NO_ORDER);
  return page(visit, order);
}

/**
 * Does what one of its buttons says. The customer of a hosted payment that is completed by it goes back to the
 * seller's `return_url` (specification: Payments).
 */
export async function useCheckout(visit: Visit): Promise<Response> {
  const { market, id, form } = visit;
  const before = market.account.orders.get(id);
  if (!before) return absent(market.account, NO_ORDER);
  try {
    act(market, id, form);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return page(visit, before, error.message);
  }
  const { shown } = market.account.orders.get(id) ?? before;
  const isCompleted = shown.status === 100 && before.shown.status !== 100;
  const back = isCompleted ? returnOf(visit) : undefined;
  return goTo(back ?? linksOf(market.account).checkout(id));
}

const NO_ORDER = 'There is no such order.';

function page(visit: Visit, order: KeptOrder, refused?: string): Promise<Response> {
  const { account } = visit.market;
  const { shown } = order;
  const { words, mood } = describeStatus(order);
  const product = account.products.get(shown.product_id);
  const back = returnOf(visit) ?? toLink(product?.redirect_url);
  const isMade = shown.status === 100 && shown.delivered === null && Boolean(product?.dynamic_url);
  return show({
    title: `Checkout of ${shown.product_title}`,
    account,
    status: refused === undefined ? 200 : 400,
    refused,
    leadsTo: returnOf(visit),
    body: html`<h1>${shown.product_title}</h1>
<div class="columns">
<div>
<section class="card" aria-labelledby="status">
<h2 id="status">Your order</h2>
<p class="status ${mood}">${words} <span class="muted">(${shown.status})</span></p>
${noteOn(order)}
${terms(order)}
</section>
${shown.delivered !== null && delivered(shown.delivered)}
${isMade && html`<p class="card">What you have bought is being made for you. Reload this page to see it.</p>`}
${back && shown.status === 100 && html`<p><a href="${back.href}">Back to the shop</a></p>`}
${shown.status === 100 && feedbackForm(visit.market, order)}
</div>
<div>${choices(order)}</div>
</div>`,
  });
}

/** Where the customer of a hosted payment goes back to. */
function returnOf({ market, id }: Visit): URL | undefined {
  return toLink(market.account.payments.get(id)?.return_url);
}

function noteOn({ shown, is_closed }: KeptOrder): Html | false {
  if (shown.status === 52) {
    return html`<p>The customer's risk level of ${shown.risk_level} is above what the product allows.</p>`;
  }
  return is_closed && html`<p>The order is closed: nobody can pay it any more.</p>`;
}

function terms(order: KeptOrder): Html {
  const { shown, received, confirmations_needed } = order;
  const { currency, crypto_address, crypto_value, status } = shown;
  const isOpen = (status === 0 || status === 53) && !order.is_closed;
  const rows: readonly (readonly [string, unknown])[] = [
    ['Order', html`<code>${shown.id}</code>`],
    ['Quantity', shown.quantity],
    ['Total', formatPrice(shown.value, currency)],
    ['Paid', formatPrice(received, currency)],
    ['Owed', isOpen && html`<strong>${formatPrice(owedOf(order), currency)}</strong>`],
    ['Gateway', shown.gateway],
    ['Address', crypto_address !== null && html`<code>${crypto_address}</code>`],
    ['Amount', crypto_value !== null && `${formatCoins(crypto_value)} (${shown.gateway})`],
    ['Received', crypto_value !== null && formatCoins(shown.crypto_received)],
    [
      'Confirmations',
      crypto_value !== null && `${shown.crypto_confirmations} of ${confirmations_needed}`,
    ],
    ['Email', shown.email],
  ];
  return html`<dl>${rows
    .filter(([, value]) => value !== false)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function delivered(goods: string): Html {
  const link = toLink(goods);
  return html`<section class="card" aria-labelledby="goods">
<h2 id="goods">What you have bought</h2>
${link ? html`<p><a href="${link.href}">${goods}</a></p>` : html`<pre>${goods}</pre>`}
</section>`;
}

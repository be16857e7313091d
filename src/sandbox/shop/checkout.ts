import { html } from 'hono/html';
import type { KeptOrder } from '../state/kinds.js';
import { toLink } from '../trade/link.js';
import { Refusal } from '../trade/refusal.js';
import { act } from './actions.js';
import { formatCoins, formatPrice, owedOf } from './amounts.js';
import { choices } from './choices.js';
import { feedbackForm } from './feedback.js';
import { linksOf } from './links.js';
import { goTo, type Html, show } from './page.js';
import { filledOf, refuse } from './refused.js';
import { describeStatus } from './status.js';
import { absent, type Visit } from './visit.js';

/** Shows the hosted checkout of an order, for a product or a payment. */
export function showCheckout(visit: Visit): Promise<Response> {
  const order = visit.market.account.orders.get(visit.id);
  if (!order) return absent(visit.market.account, NO_ORDER);
  return page(visit, order);
}

/**
 * Runs the action of a checkout button. If the action completes the order, the customer returns to the seller:
 * to the payment's `return_url` (specification: Payments) or the product's `redirect_url` (specification: Product).
 */
export async function useCheckout(visit: Visit): Promise<Response> {
  const { market, id, form } = visit;
  const before = market.account.orders.get(id);
  if (!before) return absent(market.account, NO_ORDER);
  try {
    act(market, id, form);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isOfField = error.code === 'parameter_invalid';
    const field = isOfField ? FIELDS.get(form.get('action') ?? '') : undefined;
    return refuse(visit, { sentence: error.message, field });
  }
  const order = market.account.orders.get(id) ?? before;
  const isCompleted = order.shown.status === 100 && before.shown.status !== 100;
  const back = isCompleted ? returnOf(visit, order) : undefined;
  return goTo(back ?? linksOf(market.account).checkout(id));
}

/** The number of times that a page reloads to look for goods that are being made. */
const MOST_REFRESHES = 30;

/** The field that each button sends. */
const FIELDS = new Map([
  ['pay-part', 'value'],
  ['rate', 'rating'],
]);

const NO_ORDER = 'There is no such order.';

function page(visit: Visit, order: KeptOrder): Promise<Response> {
  const filled = filledOf(visit);
  const { account } = visit.market;
  const { shown } = order;
  const { words, mood } = describeStatus(order);
  const product = account.products.get(shown.product_id);
  const back = returnOf(visit, order);
  const isMade = shown.status === 100 && shown.delivered === null && Boolean(product?.dynamic_url);
  const waited = Number(visit.form.get('waited') ?? 0);
  const refreshes = isMade && waited >= 0 && waited < MOST_REFRESHES && filled.faults.length === 0;
  return show({
    title: `Checkout of ${shown.product_title}`,
    account,
    faults: filled.faults,
    leadsTo: back,
    refresh: refreshes && `${visit.path}?waited=${Math.floor(waited) + 1}`,
    body: html`<h1>${shown.product_title}</h1>
<div class="columns">
<div>
<section class="card" aria-labelledby="status">
<h2 id="status">Your order</h2>
<p class="status ${mood}">${words} <span class="muted">(${shown.status})</span></p>
${noteOn(order)}
${terms(order)}
</section>
${shown.status === 100 && shown.delivered !== null && delivered(shown.delivered)}
${isMade && html`<p class="card">Your purchase is being prepared. ${refreshes ? 'This page shows it as soon as it is ready.' : html`<a href="${visit.path}">Check again</a>`}</p>`}
${back && shown.status === 100 && html`<p><a href="${back.href}">Back to the shop</a></p>`}
${shown.status === 100 && !refreshes && feedbackForm(visit.market, order, filled)}
</div>
<div>${choices(order, filled)}</div>
</div>`,
  });
}

/** Returns the address that the customer of a completed order returns to. */
function returnOf({ market: { account } }: Visit, { shown }: KeptOrder): URL | undefined {
  const { id, product_id } = shown;
  const ofPayment = toLink(account.payments.get(id)?.return_url);
  return ofPayment ?? toLink(account.products.get(product_id)?.redirect_url);
}

function noteOn({ shown, is_closed }: KeptOrder): Html | false {
  if (shown.status === 52) {
    return html`<p>The customer's risk level of ${shown.risk_level} is above the product's limit.</p>`;
  }
  return is_closed && html`<p>The order is closed and can no longer be paid.</p>`;
}

/** The label of the amount paid, by status, if the customer has the money back. */
const PAID: Readonly<Record<number, string>> = { 51: 'Charged back', 56: 'Refunded' };

function terms(order: KeptOrder): Html {
  const { shown, received, confirmations_needed } = order;
  const { currency, crypto_address, crypto_value, status } = shown;
  const isOpen = (status === 0 || status === 53) && !order.is_closed;
  const rows: readonly (readonly [string, unknown])[] = [
    ['Order', html`<code>${shown.id}</code>`],
    ['Quantity', shown.quantity],
    ['Total', formatPrice(shown.value, currency)],
    [PAID[status] ?? 'Paid', formatPrice(received, currency)],
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
<h2 id="goods">Your purchase</h2>
${link ? html`<p><a href="${link.href}">${goods}</a></p>` : html`<pre>${goods}</pre>`}
</section>`;
}

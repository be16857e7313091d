import { html } from 'hono/html';
import type { KeptOrder } from '../state/kinds.js';
import { decimalsOf } from '../trade/money.js';
import { formatPrice, owedOf } from './amounts.js';
import type { Html } from './page.js';
import { type Filled, markFault } from './refused.js';

/** Returns a button for everything that can happen to the order now. */
export function choices(order: KeptOrder, filled: Filled): Html {
  const { shown, is_closed } = order;
  const isUnpaid = !is_closed && [0, 53].includes(shown.status);
  const isWaiting = !is_closed && [54, 55].includes(shown.status);
  const isReversible = !is_closed && [53, 54, 55, 100].includes(shown.status);
  return html`${isUnpaid && payment(order, filled)}
${isWaiting && box('Confirmations', html`<form method="post"><div class="buttons">${button('confirm', 'Confirm once', true)}</div></form>`)}
${
  (isUnpaid || isReversible) &&
  box(
    'Other events',
    html`<form method="post"><div class="buttons">
${isReversible && html`${button('refund', 'Refund')}${button('charge-back', 'Charge back')}`}
${isUnpaid && button('expire', 'Let it expire')}
</div></form>`,
  )
}`;
}

function payment(order: KeptOrder, filled: Filled): Html {
  const { shown } = order;
  const owed = owedOf(order);
  const hasCoins = shown.crypto_value !== null;
  const decimals = decimalsOf(shown.currency);
  const smallest = (10 ** -decimals).toFixed(decimals);
  const { marks, note } = markFault(filled, 'value', 'value');
  const value = note ? filled.typed.get('value') : halfOf(owed, decimals);
  const part = hasCoins ? 'Send too little' : 'Pay a part';
  return box(
    'Payment',
    html`<p>Owed: <strong>${formatPrice(owed, shown.currency)}</strong></p>
<form method="post"><div class="buttons">
${button('pay', 'Pay', true)}${!hasCoins && button('pend', 'Leave pending')}
</div></form>
<hr>
<form method="post" class="amount">
<div class="field"><label for="value">Amount in ${shown.currency}</label>
<input type="number" id="value" name="value" min="${smallest}" max="${owed}" step="${smallest}" value="${value}" required ${marks}>${note}</div>
${button('pay-part', part)}
</form>`,
  );
}

function halfOf(owed: string, decimals: number): string {
  return (Number(owed) / 2).toFixed(decimals);
}

function box(title: string, body: Html): Html {
  return html`<section class="card"><h2>${title}</h2>${body}</section>`;
}

function button(action: string, name: string, isMain = false): Html {
  return html`<button name="action" value="${action}" ${isMain && html`class="main"`}>${name}</button>`;
}

import { html } from 'hono/html';
import type { KeptOrder } from '../state/kinds.js';
import { findFeedback } from '../trade/customers.js';
import type { Market } from '../trade/market.js';
import type { Html } from './page.js';
import { type Filled, markFault } from './refused.js';

/** Returns the form to give or change feedback on a completed order. */
export function feedbackForm(market: Market, { id }: KeptOrder, filled: Filled): Html {
  const given = findFeedback(market, id);
  const { marks, note } = markFault(filled, 'rating', 'rating');
  const message = note ? filled.typed.get('message') : given?.message;
  return html`<section class="card" aria-labelledby="feedback">
<h2 id="feedback">Feedback</h2>
${given && html`<p>You gave ${given.rating} of 5. Thank you.</p>`}
${given?.reply && html`<p class="text">The shop replied: ${given.reply}</p>`}
<form method="post">
<fieldset role="radiogroup" ${marks && html`tabindex="-1" ${marks}`}><legend>Rating</legend><div class="rating">${[
    1, 2, 3, 4, 5,
  ].map(
    (rating) =>
      html`<label><input type="radio" name="rating" value="${rating}" ${rating === given?.rating && 'checked'} required>${rating}</label>`,
  )}</div>${note}</fieldset>
<div class="field"><label for="message">Message <span class="muted">(optional)</span></label>
<textarea id="message" name="message">${message ?? ''}</textarea></div>
<div class="buttons"><button name="action" value="rate">${given ? 'Change feedback' : 'Give feedback'}</button></div>
</form>
</section>`;
}

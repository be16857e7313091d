import { html } from 'hono/html';
import type { KeptQuery, QueryMessage } from '../state/kinds.js';
import { ask, write } from '../trade/customers.js';
import { isEmail } from '../trade/email.js';
import { SOMEBODY } from '../trade/orders.js';
import { formatTime } from './amounts.js';
import { linksOf } from './links.js';
import { type Fault, goTo, type Html, show } from './page.js';
import { type Filled, filledOf, markFault, refuse } from './refused.js';
import { absent, type Visit } from './visit.js';

/** Shows the form for a customer's question to the seller. */
export function showContact(visit: Visit): Promise<Response> {
  const filled = filledOf(visit);
  const { typed, faults } = filled;
  const [email, title] = [markFault(filled, 'email', 'email'), markFault(filled, 'title', 'title')];
  return show({
    title: 'Contact',
    account: visit.market.account,
    faults,
    body: html`<h1>Contact</h1>
<section class="card" aria-labelledby="ask"><h2 id="ask">Ask the shop</h2>
<form method="post">
<div class="field"><label for="email">Email</label>
<input type="email" id="email" name="email" autocomplete="email" value="${typed.get('email') ?? SOMEBODY.email}" required ${email.marks}>${email.note}</div>
<div class="field"><label for="title">Subject</label>
<input type="text" id="title" name="title" value="${typed.get('title') ?? ''}" required ${title.marks}>${title.note}</div>
${messageField(filled)}
<div class="buttons"><button class="main">Send</button></div>
</form></section>`,
  });
}

/** Creates the query, and redirects to its page. */
export async function askShop(visit: Visit): Promise<Response> {
  const { market, form } = visit;
  const [email = '', title = '', message = ''] = ['email', 'title', 'message'].map((name) =>
    (form.get(name) ?? '').trim(),
  );
  const faults = [
    ...(isEmail(email) ? [] : [{ field: 'email', sentence: 'Email has to be an address.' }]),
    ...(title ? [] : [{ field: 'title', sentence: 'Subject is required.' }]),
    ...(message ? [] : [NO_MESSAGE]),
  ];
  if (faults.length > 0) return refuse(visit, ...faults);
  return goTo(linksOf(market.account).query(ask(market, { email, title, message }).id));
}

const NO_MESSAGE: Fault = { field: 'message', sentence: 'Message is required.' };

/** Shows a query, and the form for another message of the customer. */
export function showQuery(visit: Visit): Promise<Response> {
  const { market, id } = visit;
  const filled = filledOf(visit);
  const query = market.account.queries.get(id);
  if (!query) return absent(market.account, 'There is no such query.');
  return show({
    title: query.title,
    account: market.account,
    faults: filled.faults,
    body: html`<h1>${query.title}</h1>
${thread(query)}
<section class="card" aria-labelledby="again"><h2 id="again">Write again</h2>
<form method="post">${messageField(filled)}<div class="buttons"><button class="main">Send</button></div></form>
</section>`,
  });
}

/** Adds another message of the customer to a query. */
export async function writeAgain(visit: Visit): Promise<Response> {
  const { market, id, form } = visit;
  if (!market.account.queries.get(id)) return showQuery(visit);
  const text = (form.get('message') ?? '').trim();
  if (!text) return refuse(visit, NO_MESSAGE);
  write(market, id, { from: 'customer', text });
  return goTo(linksOf(market.account).query(id));
}

function thread({ messages }: KeptQuery): Html {
  return html`<ol class="messages" aria-label="Messages">${messages.map(message)}</ol>`;
}

function message({ from, text, created_at }: QueryMessage): Html {
  return html`<li class="${from}"><strong>${from === 'seller' ? 'The shop' : 'You'}</strong>
<span class="muted">${formatTime(created_at)}</span>
<p>${text}</p></li>`;
}

function messageField(filled: Filled): Html {
  const { marks, note } = markFault(filled, 'message', 'message');
  return html`<div class="field"><label for="message">Message</label>
<textarea id="message" name="message" required ${marks}>${filled.typed.get('message') ?? ''}</textarea>${note}</div>`;
}

import { html } from 'hono/html';
import type { KeptQuery, QueryMessage } from '../state/kinds.js';
import { ask, write } from '../trade/customers.js';
import { SOMEBODY } from '../trade/orders.js';
import { isEmail } from './email.js';
import { linksOf } from './links.js';
import { goTo, type Html, show } from './page.js';
import { absent, type Visit } from './visit.js';

/** The form by which a customer asks the seller something. */
export function showContact({ market, form }: Visit, refused?: string): Promise<Response> {
  return show({
    title: 'Contact',
    account: market.account,
    status: refused === undefined ? 200 : 400,
    refused,
    body: html`<h1>Contact</h1>
<section class="card" aria-labelledby="ask"><h2 id="ask">Ask the shop</h2>
<form method="post">
<div class="field"><label for="email">Email</label>
<input type="email" id="email" name="email" autocomplete="email" value="${form.get('email') ?? SOMEBODY.email}" required></div>
<div class="field"><label for="title">Subject</label>
<input type="text" id="title" name="title" value="${form.get('title') ?? ''}" required></div>
${messageField(form)}
<div class="buttons"><button class="main">Send</button></div>
</form></section>`,
  });
}

/** Asks it, and leads to the query's page. */
export async function askShop(visit: Visit): Promise<Response> {
  const { market, form } = visit;
  const [email = '', title = '', message = ''] = ['email', 'title', 'message'].map((name) =>
    (form.get(name) ?? '').trim(),
  );
  if (!isEmail(email)) return showContact(visit, 'Email has to be an address.');
  if (!title || !message) return showContact(visit, 'Subject and message are required.');
  return goTo(linksOf(market.account).query(ask(market, { email, title, message }).id));
}

/** A query, and the form by which the customer writes again. */
export function showQuery(visit: Visit, refused?: string): Promise<Response> {
  const { market, id, form } = visit;
  const query = market.account.queries.get(id);
  if (!query) return absent(market.account, 'There is no such query.');
  return show({
    title: query.title,
    account: market.account,
    status: refused === undefined ? 200 : 400,
    refused,
    body: html`<h1>${query.title}</h1>
${thread(query)}
<section class="card" aria-labelledby="again"><h2 id="again">Write again</h2>
<form method="post">${messageField(form)}<div class="buttons"><button class="main">Send</button></div></form>
</section>`,
  });
}

/** Writes again. */
export async function writeAgain(visit: Visit): Promise<Response> {
  const { market, id, form } = visit;
  if (!market.account.queries.get(id)) return showQuery(visit);
  const text = (form.get('message') ?? '').trim();
  if (!text) return showQuery(visit, 'Message is required.');
  write(market, id, { from: 'customer', text });
  return goTo(linksOf(market.account).query(id));
}

function thread({ messages }: KeptQuery): Html {
  return html`<ol class="messages" aria-label="Messages">${messages.map(message)}</ol>`;
}

function message({ from, text, created_at }: QueryMessage): Html {
  const minute = created_at.slice(0, 16);
  return html`<li class="${from}"><strong>${from === 'seller' ? 'The shop' : 'You'}</strong>
<time class="muted" datetime="${minute}Z">${minute.replace('T', ', ')} UTC</time>
<p>${text}</p></li>`;
}

function messageField(form: URLSearchParams): Html {
  return html`<div class="field"><label for="message">Message</label>
<textarea id="message" name="message" required>${form.get('message') ?? ''}</textarea></div>`;
}

import { html } from 'hono/html';
import { isKey, KEY_PREFIX } from '../state/account.js';
import type { Unknowns } from '../unknowns.js';
import { curlCredentials } from './curl.js';
import { type Html, show } from './page.js';

/** Shows the first page of a sandbox. */
export function showStart(origin: string, unknowns: Unknowns): Promise<Response> {
  return show({
    title: 'Sandbox',
    body: html`<h1>A storefront on this machine</h1>
<p>Its API is at <code>${origin}/api/v2</code>, described in <a href="/openapi.json">openapi.json</a>.
Every key that begins with <code>${KEY_PREFIX}</code> opens an account of its own, and every account has a shop.</p>
<h2>Open an account</h2>
${howToOpen(origin, unknowns, 'demo')}
<p><a href="/shop/demo">The shop of the account demo</a>, and <a href="/shop/demo/webhooks">its webhooks</a></p>`,
  });
}

/** Shows a 404 for an account that no request has opened yet. */
export function showUnopened(origin: string, unknowns: Unknowns, name: string): Promise<Response> {
  return show({
    title: 'No such shop',
    status: 404,
    body: html`<h1>There is no such shop</h1>
<p>Every account has a shop. The first request with its key opens an account:</p>
${howToOpen(origin, unknowns, /^[\w.-]+$/.test(name) && isKey(KEY_PREFIX + name) ? name : 'demo')}`,
  });
}

/** Shows a 404 outside of any shop. */
export function showAbsent(): Promise<Response> {
  return showError(404, 'There is no such page', 'The address leads nowhere.');
}

export function showError(status: number, title: string, sentence: string): Promise<Response> {
  return show({
    title,
    status,
    body: html`<h1>${title}</h1><p>${sentence}</p><p><a href="/">Start</a></p>`,
  });
}

function howToOpen(origin: string, unknowns: Unknowns, name: string): Html {
  return html`<pre>curl ${origin}/api/v2/products ${curlCredentials(unknowns, KEY_PREFIX + name)}</pre>`;
}

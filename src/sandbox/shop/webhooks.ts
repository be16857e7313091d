import { html } from 'hono/html';
import type { KeptWebhookLog } from '../state/kinds.js';
import { isOpen, isPending } from '../webhooks/logs.js';
import { formatTime } from './amounts.js';
import { linksOf } from './links.js';
import { type Html, show } from './page.js';
import type { Visit } from './visit.js';

const PER_PAGE = 20;

/** The most characters of an answer that the page shows. */
const SHOWN_LENGTH = 300;

/** Shows the webhooks of the account and their answers, newest first. */
export function showWebhooks({ market: { account }, form }: Visit): Promise<Response> {
  const pages = Math.max(1, Math.ceil(account.webhookLogs.size / PER_PAGE));
  const page = Math.min(pageOf(form), pages);
  const { items } = account.webhookLogs.page(page, PER_PAGE);
  const link = (to: number, words: string) =>
    to >= 1 && to <= pages && html`<a href="${linksOf(account).webhooks}?page=${to}">${words}</a>`;
  return show({
    title: 'Webhooks',
    account,
    body: html`<h1>Webhooks</h1>
${
  items.length > 0
    ? html`<ol class="messages" aria-label="Webhooks">${items.map(delivery)}</ol>`
    : html`<p>No webhook has been sent. The sandbox sends webhooks to the endpoints of the account: start it with
<code>--endpoint</code>, or create an endpoint with <code>POST /api/v2/webhooks/endpoints</code>.</p>`
}
${pages > 1 && html`<nav class="buttons" aria-label="Pages">${link(page - 1, 'Newer')}<span class="muted">Page ${page} of ${pages}</span>${link(page + 1, 'Older')}</nav>`}`,
  });
}

function pageOf(form: URLSearchParams): number {
  const page = form.get('page') ?? '';
  return /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1;
}

function delivery(log: KeptWebhookLog): Html {
  const { event, payload, url, response, response_code: code, created_at, next_retry_at } = log;
  const mood = isOpen(log) ? 'wait' : code >= 200 && code < 300 ? 'good' : 'bad';
  const answer = isPending(log) ? 'No answer yet' : code === 0 ? 'No answer' : code;
  const rows: readonly (readonly [string, unknown])[] = [
    ['Record', typeof payload.id === 'string' && html`<code>${payload.id}</code>`],
    ['Endpoint', html`<code>${url}</code>`],
    ['Attempts', isPending(log) ? 0 : log.retries + 1],
    ['Created', formatTime(created_at)],
    ['Next attempt', next_retry_at !== null && formatTime(next_retry_at)],
    ['Answer', response && html`<code>${response.slice(0, SHOWN_LENGTH)}</code>`],
  ];
  return html`<li><p><strong>${event}</strong> <span class="${mood}">${answer}</span></p>
<dl>${rows.filter(([, value]) => Boolean(value) || value === 0).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></li>`;
}

import { html } from 'hono/html';
import type { Account } from '../state/account.js';
import type { Market } from '../trade/market.js';
import { linksOf } from './links.js';
import { show } from './page.js';

/** A customer at a page of a shop. */
export interface Visit {
  readonly market: Market;
  /** The id of the record on the page; empty if the page has no record. */
  readonly id: string;
  /** The fields of a sent form, or the query of a link. */
  readonly form: URLSearchParams;
  readonly headers: Headers;
  /** The path of the page, without a query. */
  readonly path: string;
  /** The origin by which the customer reaches the sandbox, such as `http://localhost:4010`. */
  readonly origin: string;
}

/** Shows a 404 in a shop. */
export function absent(account: Account, sentence: string): Promise<Response> {
  return show({
    title: 'Not found',
    account,
    status: 404,
    body: html`<h1>Not found</h1><p>${sentence}</p><p><a href="${linksOf(account).home}">All products</a></p>`,
  });
}

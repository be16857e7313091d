import { html } from 'hono/html';
import type { Account } from '../state/account.js';
import type { Market } from '../trade/market.js';
import { linksOf } from './links.js';
import { show } from './page.js';

/** A customer at a page of a shop. */
export interface Visit {
  readonly market: Market;
  /** Of the record that the page is of; empty where it is of none. */
  readonly id: string;
  /** What was sent: of a form, or in the query of a link. */
  readonly form: URLSearchParams;
  readonly headers: Headers;
  /** By which the customer reaches the sandbox, such as `http://localhost:4010`. */
  readonly origin: string;
}

/** 404, in a shop. */
export function absent(account: Account, sentence: string): Promise<Response> {
  return show({
    title: 'Not found',
    account,
    status: 404,
    body: html`<h1>Not found</h1><p>${sentence}</p><p><a href="${linksOf(account).home}">All products</a></p>`,
  });
}

import { isLoopback } from './address.js';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Whether a request was made by a browser for a page of another origin, which a server on loopback must not serve.
 * Every such request has an `Origin` header, except one that follows a link (Fetch, section 3.1).
 */
export function isOfForeignPage(headers: Headers): boolean {
  if (headers.origin !== undefined) return !isOnLoopback(`${headers.origin}`);
  // Links are allowed from anywhere, such as the seller's own page.
  return headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate';
}

/** Whether an origin, or `http://` with a host, is on this machine. */
export function isOnLoopback(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin));
}

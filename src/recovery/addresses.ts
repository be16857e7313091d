import { parseAddress } from '../runtime/address.js';

/**
 * Returns a function that says whether an address is one of `urls`, whatever its query, and not one of
 * `apart`. The function remembers its last result: most entries of the log have the same address as the one
 * before.
 */
export function addressTest(
  urls: readonly string[],
  apart: ReadonlySet<string | undefined> = new Set(),
): (address: string | undefined) => boolean {
  const wanted = new Set(urls.map(withoutQuery));
  let last: string | undefined;
  let isOne = false;
  return (address = '') => {
    if (address !== last) {
      isOne = wanted.has(withoutQuery(address)) && !apart.has(withQuery(address));
      last = address;
    }
    return isOne;
  };
}

/** Returns an address in the form in which addresses are compared: without its query and a slash at its end. */
export function withoutQuery(address: string): string | undefined {
  const url = parseAddress(address);
  return url && url.origin + url.pathname.replace(/\/$/, '');
}

/** Returns an address in the form in which addresses are compared if the query counts. */
export function withQuery(address: string): string | undefined {
  const url = parseAddress(address);
  return url && withoutQuery(address) + url.search;
}

/** Follows {@link adviceOnQuery}, unless the caller has its own advice on a deleted endpoint. */
export const IF_DELETED =
  'If the endpoint of your shop was deleted, create it again in the dashboard.';

/**
 * Returns what to do if the endpoints at the path of an address are not of its shop, according to the `secret` function.
 * Otherwise empty. A list of the endpoints does not show that, because it leaves out their queries.
 */
export function adviceOnQuery(without: readonly string[], others: readonly string[]): string {
  const beside = without.filter((url) => others.includes(withoutQuery(url) ?? ''));
  if (beside.length === 0) return '';
  const queries = beside.filter((url) => parseAddress(url)?.search).length;
  const remedy =
    queries === 0
      ? 'give the whole address, with the query of your shop.'
      : queries === beside.length
        ? 'correct the query.'
        : 'correct each query, and give the query of your shop to each address that has none.';
  return (
    'An endpoint that differs in its query alone is of another shop or of none, or the secret function threw for it: ' +
    remedy +
    (beside.length < without.length ? ' Correct the other addresses.' : '')
  );
}

/**
 * Returns the addresses of other shops that differ from one of `urls` in their query alone. Only a `url` that
 * is among the addresses with its own query has such neighbours.
 */
export function apartByQuery(
  addresses: readonly string[],
  urls: readonly string[],
): ReadonlySet<string | undefined> {
  const exact = new Set(urls.map(withQuery));
  const found = new Set(
    addresses.filter((one) => exact.has(withQuery(one)) && parseAddress(one)?.search),
  );
  const bases = new Set([...found].map(withoutQuery));
  const others = addresses.filter((one) => bases.has(withoutQuery(one)));
  return new Set(others.map(withQuery).filter((one) => !exact.has(one)));
}

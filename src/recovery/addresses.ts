import { parseAddress } from '../address.js';

/** Tells whether an address is one of these, whatever its query. Most are the one before. */
export function addressTest(urls: readonly string[]): (address: string | undefined) => boolean {
  const wanted = new Set(urls.map(withoutQuery));
  let last: string | undefined;
  let isOne = false;
  return (address = '') => {
    if (address !== last) {
      isOne = wanted.has(withoutQuery(address));
      last = address;
    }
    return isOne;
  };
}

/** An address as it is compared. */
export function withoutQuery(address: string): string | undefined {
  const url = parseAddress(address);
  return url && url.origin + url.pathname.replace(/\/$/, '');
}

import { parseAddress } from '../address.js';

/** Whether an address is one of these, whatever its query. */
export function isSameAddress(address: string | undefined, urls: readonly string[]): boolean {
  const wanted = withoutQuery(address ?? '');
  return wanted !== undefined && urls.some((url) => withoutQuery(url) === wanted);
}

function withoutQuery(address: string): string | undefined {
  const url = parseAddress(address);
  return url && url.origin + url.pathname.replace(/\/$/, '');
}

import { isIP } from 'node:net';
import type { Market } from './market.js';
import { Refusal } from './refusal.js';

/**
 * Refuses whom the seller has blocked (specification: Blacklist entry).
 *
 * @throws {Refusal} `blacklisted`
 */
export function refuseBlacklisted(
  { account }: Market,
  customer: { readonly email: string; readonly ip_address: string; readonly country_code: string },
): void {
  const known = [
    { type: 1, name: 'email', value: customer.email },
    { type: 2, name: 'IP address', value: customer.ip_address },
    { type: 3, name: 'country', value: customer.country_code },
  ];
  for (const { blacklist_type, blocked_data } of account.blacklist) {
    const { name, value } = known.find(({ type }) => type === blacklist_type) ?? {};
    if (value !== undefined && plain(value) === plain(blocked_data)) {
      throw new Refusal('blacklisted', `The customer's ${name} is on the blacklist.`);
    }
  }
}

/** However it is written: an address of IPv6 has many ways, and one of IPv4 can be mapped into it. */
function plain(text: string): string {
  const trimmed = text.trim().toLowerCase();
  if (isIP(trimmed) !== 6) return trimmed;
  const { hostname } = new URL(`http://[${trimmed.replace(/%.*$/, '')}]`);
  const [, high, low] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname;
  return [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 255])
    .join('.');
}

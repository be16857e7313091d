import { isIP } from 'node:net';
import { COUNTRY_CODES } from './countries.js';
import { isEmail } from './email.js';
import type { Market } from './market.js';
import { Refusal } from './refusal.js';

/** The data that an entry of each `blacklist_type` blocks (specification: Blacklist entry). */
const KINDS: Readonly<Record<number, readonly [name: string, isOne: (text: string) => boolean]>> = {
  1: ['an email address', isEmail],
  2: ['an IP address', (text) => isIP(text) !== 0],
  3: ['a country code of ISO 3166-1 alpha-2', (text) => COUNTRY_CODES.includes(text.toUpperCase())],
};

/** Returns what `blocked_data` has to be, if it is something else: the entry would never block a customer. */
export function findNeverBlocks(type: number, blocked: string): string | undefined {
  const [name, isOne] = KINDS[type] ?? [];
  return isOne?.(blocked.trim()) === false ? name : undefined;
}

/**
 * Throws if the seller has blocked the customer (specification: Blacklist entry). Only the given details count.
 *
 * @throws {Refusal} `blacklisted`
 */
export function refuseBlacklisted(
  { account }: Market,
  customer: {
    readonly email: string;
    readonly ip_address?: string | undefined;
    readonly country_code?: string | undefined;
  },
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

/**
 * Normalises a text for comparison. An IPv6 address can be written in many ways, and can contain an IPv4
 * address.
 */
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

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
    if (value?.toLowerCase() === blocked_data.trim().toLowerCase()) {
      throw new Refusal('blacklisted', `The customer's ${name} is on the blacklist.`);
    }
  }
}

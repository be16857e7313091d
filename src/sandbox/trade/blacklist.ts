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
  const { email, ip_address, country_code } = customer;
  const known = {
    1: ['email', email],
    2: ['IP address', ip_address],
    3: ['country', country_code],
  };
  for (const { blacklist_type, blocked_data } of account.blacklist) {
    const [name, value = ''] = known[blacklist_type];
    if (value.toLowerCase() === blocked_data.trim().toLowerCase()) {
      throw new Refusal('blacklisted', `The customer's ${name} is on the blacklist.`);
    }
  }
}

import type { KeptProduct } from '../state/kinds.js';
import type { Purchase } from '../trade/buy.js';
import { Refusal } from '../trade/refusal.js';
import { isCountry } from './countries.js';
import { readCustom } from './custom-fields.js';
import { isEmail } from './email.js';
import { toLink } from './links.js';

/**
 * Reads the form of an order.
 *
 * @throws {Refusal} `parameter_invalid`, with a sentence for each field that is not as it has to be.
 */
export function readPurchase(
  product: KeptProduct,
  form: URLSearchParams,
  headers: Headers,
): Purchase {
  const text = (name: string) => (form.get(name) ?? '').trim();
  const { custom, faults: ofCustom } = readCustom(product, form);
  const faults: string[] = [];
  const whole = (name: string, words: string): number | undefined => {
    const value = text(name);
    if (value === '') return undefined;
    if (!/^\d{1,9}$/.test(value)) faults.push(`${words} has to be a whole number.`);
    return Number(value);
  };
  const email = text('email');
  if (!isEmail(email)) faults.push('Email has to be an address such as buyer@example.com.');
  const country = text('country_code');
  if (!isCountry(country)) faults.push('Country is required.');
  const details = product.customer_details_required
    ? { customer_name: text('name'), customer_address: text('address') }
    : {};
  if (details.customer_name === '') faults.push('Name is required.');
  if (details.customer_address === '') faults.push('Address is required.');
  const quantity = whole('quantity', 'Quantity');
  const risk = whole('risk_level', 'Risk level');
  if (risk !== undefined && risk > 100) faults.push('Risk level has to be at most 100.');
  faults.push(...ofCustom);
  if (faults.length > 0) throw new Refusal('parameter_invalid', faults.join(' '));
  return {
    product_id: product.id,
    quantity,
    gateway: text('gateway') || undefined,
    email,
    ip_address: text('ip_address') || undefined,
    country_code: country,
    user_agent: headers.get('user-agent') ?? undefined,
    risk_level: risk,
    vpn: form.has('vpn'),
    referral: toLink(text('referral'))?.href ?? null,
    // Where a name and an address are in an order, the specification does not show.
    custom: { ...details, ...custom },
  };
}

import type { KeptProduct } from '../state/kinds.js';
import type { Purchase } from '../trade/buy.js';
import { COUNTRY_CODES } from '../trade/countries.js';
import { isEmail } from '../trade/email.js';
import { toLink } from '../trade/link.js';
import { readCustom } from './custom-fields.js';
import type { Fault } from './page.js';

/** Reads an order form, and finds its faults. */
export function readPurchase(
  product: KeptProduct,
  form: URLSearchParams,
  headers: Headers,
): { readonly purchase: Purchase; readonly faults: readonly Fault[] } {
  const text = (name: string) => (form.get(name) ?? '').trim();
  const faults: Fault[] = [];
  const must = (isGood: boolean, field: string, sentence: string) => {
    if (!isGood) faults.push({ field, sentence });
  };
  const whole = (field: string, words: string): number | undefined => {
    const value = text(field);
    if (value === '') return undefined;
    must(/^\d{1,9}$/.test(value), field, `${words} has to be a whole number.`);
    return Number(value);
  };
  const email = text('email');
  must(isEmail(email), 'email', 'Email has to be an address such as buyer@example.com.');
  const country = text('country_code');
  must(COUNTRY_CODES.includes(country), 'country_code', 'Country is required.');
  const details = product.customer_details_required
    ? { customer_name: text('name'), customer_address: text('address') }
    : {};
  must(details.customer_name !== '', 'name', 'Name is required.');
  must(details.customer_address !== '', 'address', 'Address is required.');
  const { custom, faults: ofCustom } = readCustom(product, form);
  faults.push(...ofCustom);
  const quantity = whole('quantity', 'Quantity');
  const risk = whole('risk_level', 'Risk level');
  must((risk ?? 0) <= 100, 'risk_level', 'Risk level has to be at most 100.');
  const purchase = {
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
    // The specification does not show which field of an order has the name and address.
    custom: { ...details, ...custom },
  };
  return { purchase, faults };
}

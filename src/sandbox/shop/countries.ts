import { html } from 'hono/html';
import { COUNTRY_CODES } from '../trade/countries.js';
import type { Html } from './page.js';

const names = new Intl.DisplayNames('en', { type: 'region' });
const COUNTRIES = COUNTRY_CODES.map((code) => ({ code, name: names.of(code) ?? code })).sort(
  (one, other) => one.name.localeCompare(other.name, 'en'),
);

/** Returns the options of a country dropdown. */
export function countryOptions(chosen: string): Html {
  return html`<option value="">Choose a country</option>${COUNTRIES.map(
    ({ code, name }) =>
      html`<option value="${code}" ${code === chosen && 'selected'}>${name}</option>`,
  )}`;
}

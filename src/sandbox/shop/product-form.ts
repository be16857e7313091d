import { html } from 'hono/html';
import type { KeptProduct } from '../state/kinds.js';
import { usableGateways } from '../trade/buy.js';
import { nameOf } from '../trade/gateways.js';
import type { Market } from '../trade/market.js';
import { SOMEBODY } from '../trade/orders.js';
import { stockOf } from '../trade/stock.js';
import { countryOptions } from './countries.js';
import { customFields } from './custom-fields.js';
import type { Html } from './page.js';

/** The form of an order, with what was typed before; `undefined` where there is no gateway to pay by. */
export function orderForm(
  market: Market,
  product: KeptProduct,
  typed: URLSearchParams,
): Html | undefined {
  const gateways = usableGateways(market, product);
  if (gateways.length === 0) return undefined;
  const chosen = typed.get('gateway');
  return html`<form method="post">
<div class="field"><label for="email">Email</label>
<input type="email" id="email" name="email" autocomplete="email" value="${typed.get('email') ?? SOMEBODY.email}" required></div>
<div class="field"><label for="country">Country</label>
<select id="country" name="country_code" autocomplete="country" required>${countryOptions(typed.get('country_code') ?? SOMEBODY.country_code)}</select></div>
${product.customer_details_required && customerDetails(typed)}
${customFields(product, typed)}
${quantityField(product, typed)}
<div class="field"><label for="gateway">Payment gateway</label>
<select id="gateway" name="gateway" required>${gateways.map(
    (gateway) =>
      html`<option value="${gateway}" ${gateway === chosen && 'selected'}>${nameOf(gateway)}</option>`,
  )}</select></div>
<input type="hidden" name="referral" value="${typed.get('referral') ?? ''}">
${sandboxOptions(typed)}
<div class="buttons"><button class="main">Order</button></div>
</form>`;
}

function quantityField(product: KeptProduct, typed: URLSearchParams): Html {
  const { minimum_quantity: least, maximum_quantity: most } = product;
  const stock = stockOf(product);
  // The largest number would tell how many there are.
  const left = stock === '∞' || product.hide_stock ? null : stock;
  const bounds = [most, left].filter((bound) => bound !== null);
  const max = bounds.length > 0 && html`max="${Math.min(...bounds)}"`;
  return html`<div class="field"><label for="quantity">Quantity</label>
<input type="number" id="quantity" name="quantity" min="${least}" ${max} step="1" value="${typed.get('quantity') ?? String(least)}" required></div>`;
}

function customerDetails(typed: URLSearchParams): Html {
  return html`<div class="field"><label for="name">Name</label>
<input type="text" id="name" name="name" autocomplete="name" value="${typed.get('name') ?? ''}" required></div>
<div class="field"><label for="address">Address</label>
<textarea id="address" name="address" autocomplete="street-address" required>${typed.get('address') ?? ''}</textarea></div>`;
}

function sandboxOptions(typed: URLSearchParams): Html {
  return html`<details>
<summary>Options of the sandbox</summary>
<fieldset>
<div class="field"><label for="risk">Risk level, 0 to 100</label>
<input type="number" id="risk" name="risk_level" min="0" max="100" step="1" value="${typed.get('risk_level') ?? '0'}"></div>
<div class="field"><label for="ip">IP address</label>
<input type="text" id="ip" name="ip_address" value="${typed.get('ip_address') ?? SOMEBODY.ip_address}"></div>
<div class="check"><input type="checkbox" id="vpn" name="vpn" value="yes" ${typed.has('vpn') && 'checked'}>
<label for="vpn">Comes by a VPN or a proxy</label></div>
</fieldset>
</details>`;
}

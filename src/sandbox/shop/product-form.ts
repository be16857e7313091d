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
import { type Filled, markFault } from './refused.js';

/** Returns the order form, filled in; `undefined` if no gateway is available. */
export function orderForm(market: Market, product: KeptProduct, filled: Filled): Html | undefined {
  const gateways = usableGateways(market, product);
  if (gateways.length === 0) return undefined;
  const { typed } = filled;
  const [email, country] = [
    markFault(filled, 'email', 'email'),
    markFault(filled, 'country_code', 'country'),
  ];
  const gateway = markFault(filled, 'gateway', 'gateway');
  const chosen = typed.get('gateway');
  return html`<form method="post">
<div class="field"><label for="email">Email</label>
<input type="email" id="email" name="email" autocomplete="email" value="${typed.get('email') ?? SOMEBODY.email}" required ${email.marks}>${email.note}</div>
<div class="field"><label for="country">Country</label>
<select id="country" name="country_code" autocomplete="country" required ${country.marks}>${countryOptions(typed.get('country_code') ?? SOMEBODY.country_code)}</select>${country.note}</div>
${product.customer_details_required && customerDetails(filled)}
${customFields(product, filled)}
${quantityField(product, filled)}
<div class="field"><label for="gateway">Payment gateway</label>
<select id="gateway" name="gateway" required ${gateway.marks}>${gateways.map(
    (one) => html`<option value="${one}" ${one === chosen && 'selected'}>${nameOf(one)}</option>`,
  )}</select>${gateway.note}</div>
<input type="hidden" name="referral" value="${typed.get('referral') ?? ''}">
${sandboxOptions(filled)}
<div class="buttons"><button class="main">Order</button></div>
</form>`;
}

function quantityField(product: KeptProduct, filled: Filled): Html {
  const { minimum_quantity: least, maximum_quantity: most } = product;
  const stock = stockOf(product);
  // A maximum would reveal the hidden stock.
  const left = stock === '∞' || product.hide_stock ? null : stock;
  const bounds = [most, left].filter((bound) => bound !== null);
  const max = bounds.length > 0 && html`max="${Math.min(...bounds)}"`;
  const { marks, note } = markFault(filled, 'quantity', 'quantity');
  return html`<div class="field"><label for="quantity">Quantity</label>
<input type="number" id="quantity" name="quantity" min="${least}" ${max} step="1" value="${filled.typed.get('quantity') ?? String(least)}" required ${marks}>${note}</div>`;
}

function customerDetails(filled: Filled): Html {
  const { typed } = filled;
  const [name, address] = [
    markFault(filled, 'name', 'name'),
    markFault(filled, 'address', 'address'),
  ];
  return html`<div class="field"><label for="name">Name</label>
<input type="text" id="name" name="name" autocomplete="name" value="${typed.get('name') ?? ''}" required ${name.marks}>${name.note}</div>
<div class="field"><label for="address">Address</label>
<textarea id="address" name="address" autocomplete="street-address" required ${address.marks}>${typed.get('address') ?? ''}</textarea>${address.note}</div>`;
}

function sandboxOptions(filled: Filled): Html {
  const { typed } = filled;
  const [risk, vpn] = [markFault(filled, 'risk_level', 'risk'), markFault(filled, 'vpn', 'vpn')];
  return html`<details ${(risk.note || vpn.note) && 'open'}>
<summary>Sandbox options</summary>
<fieldset>
<div class="field"><label for="risk">Risk level, 0 to 100</label>
<input type="number" id="risk" name="risk_level" min="0" max="100" step="1" value="${typed.get('risk_level') ?? '0'}" ${risk.marks}>${risk.note}</div>
<div class="field"><label for="ip">IP address</label>
<input type="text" id="ip" name="ip_address" value="${typed.get('ip_address') ?? SOMEBODY.ip_address}"></div>
<div class="check"><input type="checkbox" id="vpn" name="vpn" value="yes" ${typed.has('vpn') && 'checked'} ${vpn.marks}>
<label for="vpn">Uses a VPN or a proxy</label></div>${vpn.note}
</fieldset>
</details>`;
}

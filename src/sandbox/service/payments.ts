import * as z from 'zod/mini';
import { newHostedPayment, newWhiteLabelPayment } from '../../api/parameters.js';
import type { KeptOrder } from '../state/kinds.js';
import { coinTerms } from '../trade/gateways.js';
import type { Market } from '../trade/market.js';
import { toUnits } from '../trade/money.js';
import { createPayment, deletePayment } from '../trade/payments.js';
import { check, type Sent } from './form.js';
import type { Service } from './operations.js';
import { webhookUrl, wrongFields } from './wrong-fields.js';

const webhook_url = z.optional(webhookUrl);
const newPayment = z.discriminatedUnion('white_label', [
  z.extend(newHostedPayment, { webhook_url }),
  z.extend(newWhiteLabelPayment, { webhook_url }),
]);

/** The operations on payments of both flows (specification: Payments). */
export const payments: Service['payments'] = {
  create({ market, sent, url: asked }) {
    const terms = check(newPayment, withConfirmations(market, sent), wrongFields(market));
    const order = createPayment(market, {
      ...terms,
      white_label: terms.white_label === true,
      return_url: terms.white_label ? null : terms.return_url,
      webhook_url: terms.webhook_url ?? null,
      ip_address: terms.white_label ? terms.ip_address : undefined,
    });
    const url = `${new URL(asked).origin}/shop/${encodeURIComponent(market.account.name)}/checkout/${order.id}`;
    return terms.white_label ? showWhiteLabel(order, url) : { url };
  },

  delete: ({ market, id }) => deletePayment(market, id),
};

/** Reads the parameter for confirmations by this deployment's name, which the specification does not show. */
function withConfirmations({ unknowns }: Market, { fields, isText }: Sent): Sent {
  const { confirmations: _, [unknowns.confirmationsName]: confirmations, ...rest } = fields;
  return { fields: confirmations === undefined ? rest : { ...rest, confirmations }, isText };
}

/** Returns the order-shaped record of a payment (specification: Payment result). */
function showWhiteLabel(
  { id, gateway, shown, confirmations_needed }: KeptOrder,
  url: string,
): object {
  const coins = coinTerms(gateway, id, toUnits(shown.usd_value));
  return {
    id,
    status: shown.status,
    crypto_address: shown.crypto_address,
    crypto_value: shown.crypto_value,
    confirmations_needed,
    product_id: shown.product_id,
    email: shown.email,
    value: shown.value,
    quantity: shown.quantity,
    currency: shown.currency,
    gateway: shown.gateway,
    crypto_channel: shown.crypto_channel,
    usd_value: shown.usd_value,
    exchange_rate: shown.exchange_rate,
    created_at: shown.created_at,
    updated_at: shown.updated_at,
    url: coins?.uri ?? url,
  };
}

import type { KeptOrder, KeptPayment } from '../state/kinds.js';
import { PAYMENT_PRODUCT_ID } from '../state/kinds.js';
import { refuseBlacklisted } from './blacklist.js';
import { toGateway } from './gateways.js';
import { newId } from './ids.js';
import type { Market } from './market.js';
import { toCents, toUnits } from './money.js';
import { openOrder, SOMEBODY } from './orders.js';
import { Refusal } from './refusal.js';

/** The terms of a payment (specification: Payments). */
export interface PaymentTerms extends Omit<KeptPayment, 'id'> {
  readonly title: string;
  readonly email: string;
  readonly currency: string;
  readonly value: number | string;
  /** The gateway, by its name in the API or its display name. */
  readonly gateway: string;
  /** The number of confirmations needed, 0 to 6. */
  readonly confirmations: number;
  readonly ip_address?: string | undefined;
}

/**
 * Creates a payment and its order, which have the same id.
 *
 * @throws {Refusal}
 */
export function createPayment(market: Market, terms: PaymentTerms): KeptOrder {
  const { account } = market;
  const { white_label, return_url, webhook_url } = terms;
  const gateway = toGateway(terms.gateway);
  if (!gateway || !account.settings.gateways.includes(gateway)) {
    throw new Refusal(
      'gateway_unavailable',
      `gateway has to be configured in the payment settings. There are ${account.settings.gateways.join(', ') || 'none'}`,
    );
  }
  const value = toUnits(terms.value);
  if (toCents(value) <= 0n) throw new Refusal('parameter_invalid', 'value has to be at least 0.01');
  // Check stated details only: the others are the sandbox's defaults.
  const { email, ip_address } = terms;
  refuseBlacklisted(market, { email, ip_address });
  return account.transact(() =>
    openOrder(
      market,
      {
        id: newId('ord'),
        ...SOMEBODY,
        email,
        ip_address: ip_address ?? SOMEBODY.ip_address,
        product_id: PAYMENT_PRODUCT_ID,
        product_title: terms.title,
        currency: terms.currency.toUpperCase(),
        quantity: 1,
        value,
        gateway,
        confirmations_needed: terms.confirmations,
        held: [],
        taken: 0,
        status: 0,
        is_closed: false,
      },
      ({ id }) => account.payments.put({ id, white_label, return_url, webhook_url }),
    ),
  );
}

/** Deletes a payment. Its order stays, but can no longer be paid. Returns `false` if there is no such payment. */
export function deletePayment({ account }: Market, id: string): boolean {
  return account.transact(() => {
    const order = account.orders.get(id);
    const isUnpaid = order?.shown.status === 0 || order?.shown.status === 53;
    if (isUnpaid) account.orders.put({ ...order, is_closed: true });
    return account.payments.delete(id);
  });
}

import * as z from 'zod/mini';
import { nameType } from '../request/bytes.js';
import { decimal } from './decimal.js';
import { jsonObject } from './json.js';
import { openInteger } from './open.js';
import { resource } from './resource.js';
import type { InferOutput } from './standard-schema.js';

/** The order states of the specification, by code. */
const LABELS = {
  0: 'not paid',
  51: 'chargeback or reversed',
  52: 'high risk',
  53: 'partially paid',
  54: 'awaiting cryptocurrency confirmations',
  55: 'pending',
  56: 'refunded',
  100: 'completed',
};

export const orderStatus = openInteger<keyof typeof LABELS>();

/** An order's state (specification: Order status). Open: a code added later is a number, too. */
export type OrderStatus = z.output<typeof orderStatus>;

const labels: ReadonlyMap<string, string> = new Map(Object.entries(LABELS));

/** The state in words: `54` is `'awaiting cryptocurrency confirmations'`, an unknown `60` is `'status 60'`. */
export function orderStatusLabel(status: OrderStatus): string {
  return labels.get(`${status}`) ?? `status ${status}`;
}

/** A status without anything of the payload that is not known by name: for a log. */
export function describeStatus(status: unknown): string {
  const label = typeof status === 'number' ? labels.get(`${status}`) : undefined;
  if (label !== undefined) return `${status} (${label})`;
  if (typeof status === 'number') return 'a number that is none of the known states';
  return status === undefined ? 'missing' : nameType(status);
}

/** An order (specification: Order), the payload of every `order:*` event. */
export const orderSchema = resource(
  {
    id: z.string().check(z.minLength(1)),
    status: orderStatus,
    email: z.string(),
  },
  {
    product_id: z.string(),
    product_title: z.string(),
    ip_address: z.string(),
    country_code: z.string(),
    user_agent: z.string(),
    value: decimal,
    usd_value: decimal,
    exchange_rate: decimal,
    currency: z.string(),
    gateway: z.string(),
    quantity: z.int(),
    risk_level: z.int(),
    delivered: z.nullable(z.string()),
    referral: z.nullable(z.string()),
    crypto_address: z.nullable(z.string()),
    crypto_value: z.nullable(z.int()),
    crypto_received: z.int(),
    crypto_confirmations: z.int(),
    crypto_channel: z.nullable(z.string()),
    coupon_id: z.nullable(z.string()),
    custom: jsonObject,
    created_at: z.string(),
    updated_at: z.string(),
  },
);

/** An order, as {@link orderSchema} reads it: the payload of the `order:` events. */
export type Order = InferOutput<typeof orderSchema>;

/**
 * Whether an order is in a state that means paid (specification: Order status). As `when` of a handler, it goes
 * by the receiver's `paidStatuses`.
 *
 * @param options.paidStatuses - The states that mean paid. Default: `[100]`, completed.
 *
 * @example
 * receiver.on(['order:paid', 'order:updated'], deliver, {
 *   name: 'deliver',
 *   when: isPaid,
 *   oncePer: (order) => order.id,
 * });
 */
export function isPaid(
  { status }: { readonly status: OrderStatus },
  { paidStatuses = [100] }: { readonly paidStatuses?: readonly OrderStatus[] | undefined } = {},
): boolean {
  return paidStatuses.some((paid) => paid === status);
}

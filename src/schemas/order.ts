import * as z from 'zod/mini';
import { nameType } from '../runtime/bytes.js';
import type { Issue } from './issue.js';
import { type RecordOf, type ResourceSchema, resource } from './resource.js';
import {
  anyJson,
  decimal,
  integer,
  nullableInteger,
  nullableText,
  openCode,
  text,
  timestamp,
} from './values.js';

/** The order states of the specification, by code; 1 and 5 were added later. */
const LABELS = {
  0: 'not paid',
  1: 'expired',
  5: 'bad card',
  51: 'chargeback or reversed',
  52: 'high risk',
  53: 'partially paid',
  54: 'awaiting cryptocurrency confirmations',
  55: 'pending',
  56: 'refunded',
  100: 'completed',
};

// The provider also sends 10, and documents it nowhere.
export const orderStatus = openCode<keyof typeof LABELS | 10>();

/** An order's state (specification: Order status). Open: later codes, and words in place of codes, are allowed. */
export type OrderStatus = z.output<typeof orderStatus>;

const labels: ReadonlyMap<string, string> = new Map(Object.entries(LABELS));

/**
 * Returns a state in words: `'awaiting cryptocurrency confirmations'` for `54`, `'status 60'` for an unknown `60`,
 * and a word unchanged.
 *
 * @example
 * receiver.on('order:updated', ({ payload }) => log(payload.id, orderStatusLabel(payload.status)));
 */
export function orderStatusLabel(status: OrderStatus): string {
  if (typeof status === 'string') return status;
  return labels.get(`${status}`) ?? `status ${status}`;
}

/** Describes a status for a log, without quoting unknown values of the payload. */
export function describeStatus(status: unknown): string {
  const label = typeof status === 'number' ? labels.get(`${status}`) : undefined;
  if (label !== undefined) return `${status} (${label})`;
  if (typeof status === 'number') return 'a number that is not a known state';
  if (typeof status === 'string') return 'a text (name the one that means paid)';
  return status === undefined ? 'missing' : nameType(status);
}

/** Returns the issue of a status that does not mean paid; `undefined` if the status means paid. */
export function findUnpaid(
  status: unknown,
  paidStatuses: readonly OrderStatus[],
): Issue | undefined {
  if (paidStatuses.some((paid) => paid === status)) return undefined;
  const paid = paidStatuses.map((one) => JSON.stringify(one)).join(', ');
  return {
    path: 'status',
    message: `is ${describeStatus(status)}, and paidStatuses are [${paid}]`,
  };
}

// The fields of an order: its identity, the fields that handlers need, and the rest.

export const orderIdentity = {
  /** Unique identifier. */
  id: text.check(z.minLength(1)),
};

export const orderState = {
  /**
   * 0 = not paid, 51 = chargeback or reversed, 52 = high risk, 53 = partially paid, 54 = awaiting cryptocurrency
   * confirmations, 55 = pending (wallet payment gateway), 56 = refunded, 100 = successful and completed.
   */
  status: orderStatus,
  /** Customer email address. */
  email: text,
};

export const orderDetails = {
  /** Product of the order; `null` if the order is a payment, which is of no product. */
  product_id: nullableText,
  /** Title of the product. */
  product_title: text,
  /** Customer IP address. */
  ip_address: text,
  /** Country of the customer, ISO 3166-1 alpha-2. */
  country_code: text,
  /** User agent of the customer. */
  user_agent: text,
  /** Order value in `currency`. */
  value: decimal,
  /** Order value in USD. */
  usd_value: decimal,
  /** Exchange rate. */
  exchange_rate: decimal,
  /** ISO 4217 code. */
  currency: text,
  /** Gateway used, as a display name. */
  gateway: text,
  /** Gateway used, by the name of this field in newer versions. */
  payment_gateway: z.optional(text),
  /** The payment that the order belongs to, in newer versions. */
  payment_request_id: z.optional(nullableText),
  /** How many are ordered. Default 1. */
  quantity: integer,
  /** Risk level of the customer. */
  risk_level: integer,
  /** Delivered goods. Default `null`. */
  delivered: nullableText,
  /** HTTP referrer of the product page. Default `null`. */
  referral: nullableText,
  /** Crypto address presented to the customer. */
  crypto_address: nullableText,
  /** Satoshis the customer must send. */
  crypto_value: nullableInteger,
  /** Satoshis received. */
  crypto_received: integer,
  /** Confirmations of the crypto transaction. */
  crypto_confirmations: integer,
  /** Crypto channel. The specification does not describe it. */
  crypto_channel: nullableText,
  /** Coupon of the order. */
  coupon_id: nullableText,
  /** The values that the customer entered in the custom checkout fields, as any JSON. */
  custom: anyJson,
  /** When the order was created. */
  created_at: timestamp,
  /** When the order was last updated. Equals `created_at` if never updated. */
  updated_at: timestamp,
};

type Read = RecordOf<typeof orderIdentity & typeof orderState, typeof orderDetails>;

/** An order, as {@link orderSchema} reads it: the payload of the `order:` events. */
// A mapped type, so that editors and the compiler show its name instead of its fields.
export type Order = { [Field in keyof Read]: Read[Field] };

/**
 * An order (specification: Order), the payload of every `order:*` event.
 *
 * @example
 * const reading = orderSchema.read(JSON.parse('{"id":"ord_7","status":100,"email":"buyer@example.com"}'));
 * if ('value' in reading) log(reading.value.email, reading.issues);
 */
export const orderSchema: ResourceSchema<Order> = resource(
  { ...orderIdentity, ...orderState },
  orderDetails,
);

/**
 * Returns whether an order is in a state that means paid (specification: Order status). As the `when` of a
 * handler, it uses the receiver's `paidStatuses`. To deliver each paid order once, use `receiver.onPaid()`.
 *
 * @param options.paidStatuses - The states that mean paid. Default: `[100]`, completed.
 *
 * @example
 * for await (const order of client.orders.list()) if (isPaid(order)) log(order.id);
 */
export function isPaid(
  { status }: { readonly status: OrderStatus },
  { paidStatuses = [100] }: { readonly paidStatuses?: readonly OrderStatus[] | undefined } = {},
): boolean {
  return paidStatuses.some((paid) => paid === status);
}

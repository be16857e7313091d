import * as z from 'zod/mini';
import { nameType } from '../request/bytes.js';
import { decimal } from './decimal.js';
import type { Issue } from './issue.js';
import { anyJson } from './json.js';
import { openCode } from './open.js';
import { type ResourceSchema, resource } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/** The order states of the specification, by code; 1 and 5 are later ones. */
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

// 10 is sent, too: nobody says what it means.
export const orderStatus = openCode<keyof typeof LABELS | 10>();

/** An order's state (specification: Order status). Open: a code added later, or a word in place of a code. */
export type OrderStatus = z.output<typeof orderStatus>;

const labels: ReadonlyMap<string, string> = new Map(Object.entries(LABELS));

/**
 * The state in words: `54` is `'awaiting cryptocurrency confirmations'`, an unknown `60` is `'status 60'`, and
 * a word is itself.
 *
 * @example
 * receiver.on('order:updated', ({ payload }) => log(payload.id, orderStatusLabel(payload.status)));
 */
export function orderStatusLabel(status: OrderStatus): string {
  if (typeof status === 'string') return status;
  return labels.get(`${status}`) ?? `status ${status}`;
}

/** A status without anything of the payload that is not known by name: for a log. */
export function describeStatus(status: unknown): string {
  const label = typeof status === 'number' ? labels.get(`${status}`) : undefined;
  if (label !== undefined) return `${status} (${label})`;
  if (typeof status === 'number') return 'a number that is none of the known states';
  if (typeof status === 'string') return 'a text (name the one that means paid)';
  return status === undefined ? 'missing' : nameType(status);
}

/** What is wrong with a status where it has to mean paid; nothing where it does. */
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

// The fields of an order: what it is known by, what a handler needs of it, and all else.

export const orderIdentity = { id: z.string().check(z.minLength(1)) };

export const orderState = { status: orderStatus, email: z.string() };

export const orderDetails = {
  /** `null` where the order is a payment, which is of no product. */
  product_id: z.nullable(z.string()),
  product_title: z.string(),
  ip_address: z.string(),
  country_code: z.string(),
  user_agent: z.string(),
  value: decimal,
  usd_value: decimal,
  exchange_rate: decimal,
  currency: z.string(),
  gateway: z.string(),
  /** What newer versions call the gateway. */
  payment_gateway: z.optional(z.string()),
  /** The payment that the order belongs to, in newer versions. */
  payment_request_id: z.optional(z.nullable(z.string())),
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
  /** What the buyer wrote at checkout, whatever JSON it came as. */
  custom: anyJson,
  created_at: timestamp,
  updated_at: timestamp,
};

const order = resource({ ...orderIdentity, ...orderState }, orderDetails);
type Read = InferOutput<typeof order>;

/** An order, as {@link orderSchema} reads it: the payload of the `order:` events. */
// Written out, so that editors and the compiler call it by its name, and do not spell out its fields.
export type Order = { [Field in keyof Read]: Read[Field] };

/**
 * An order (specification: Order), the payload of every `order:*` event.
 *
 * @example
 * const reading = orderSchema.read(JSON.parse('{"id":"ord_7","status":100,"email":"buyer@example.com"}'));
 * if ('value' in reading) log(reading.value.email, reading.issues);
 */
export const orderSchema: ResourceSchema<Order> = order;

/**
 * Whether an order is in a state that means paid (specification: Order status). As `when` of a handler, it goes
 * by the receiver's `paidStatuses`.
 *
 * @param options.paidStatuses - The states that mean paid. Default: `[100]`, completed.
 *
 * @example
 * receiver.on(['order:paid', 'order:updated'], ({ payload }) => deliver(payload), {
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

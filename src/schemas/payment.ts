import * as z from 'zod/mini';
import { orderStatus } from './order.js';
import { type RecordOf, type ResourceSchema, resource, variants } from './resource.js';
import { decimal, isJsonObject, timestamp } from './values.js';

const hosted = {
  /** The hosted checkout address, where to send the customer. */
  url: z.string(),
};
type Hosted = RecordOf<typeof hosted, Record<never, never>>;

/** A payment on the provider's own page. */
export type HostedPayment = { [Field in keyof Hosted]: Hosted[Field] };

/**
 * A payment in the integrated flow: where to send the customer (specification: Payment result).
 *
 * @example
 * const reading = hostedPaymentSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const hostedPaymentSchema: ResourceSchema<HostedPayment> = resource(hosted, {});

const required = {
  /** Unique identifier. */
  id: z.string(),
  /** State of the order, as `status` of an order. */
  status: orderStatus,
  /** Customer email address. */
  email: z.string(),
};
const rest = {
  /** Crypto address presented to the customer. */
  crypto_address: z.nullable(z.string()),
  /** Satoshis the customer must send. */
  crypto_value: z.nullable(z.int()),
  /** Crypto confirmations needed. */
  confirmations_needed: z.int(),
  /** A fixed marker for payments, rather than a product. */
  product_id: z.string(),
  /** Price in `currency`. */
  value: decimal,
  /** How many are ordered. */
  quantity: z.int(),
  /** ISO 4217 code. */
  currency: z.string(),
  /** Payment gateway. */
  gateway: z.string(),
  /** Crypto channel. The specification does not describe it. */
  crypto_channel: z.nullable(z.string()),
  /** Price in USD. */
  usd_value: decimal,
  /** Exchange rate. */
  exchange_rate: decimal,
  /** When the payment was created. */
  created_at: timestamp,
  /** When the payment was last updated. */
  updated_at: timestamp,
  /** A payment address for the chosen gateway. */
  url: z.string(),
};
type WhiteLabel = RecordOf<typeof required, typeof rest>;

/** A payment on the seller's own page. */
export type WhiteLabelPayment = { [Field in keyof WhiteLabel]: WhiteLabel[Field] };

/**
 * A payment in the white-label flow: an order-shaped record (specification: Payment result).
 *
 * @example
 * const reading = whiteLabelPaymentSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const whiteLabelPaymentSchema: ResourceSchema<WhiteLabelPayment> = resource(required, rest);

/** A payment of either flow. Only a white-label payment has an `id`. */
export type Payment = HostedPayment | WhiteLabelPayment;

/**
 * A payment of either flow. Only a white-label payment has an `id`.
 *
 * @example
 * const reading = paymentSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const paymentSchema: ResourceSchema<Payment> = variants<Payment>((value) =>
  isJsonObject(value) && 'id' in value ? whiteLabelPaymentSchema : hostedPaymentSchema,
);

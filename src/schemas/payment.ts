import { orderStatus } from './order.js';
import { type RecordOf, type ResourceSchema, resource, variants } from './resource.js';
import {
  decimal,
  integer,
  isJsonObject,
  nullableInteger,
  nullableText,
  text,
  timestamp,
} from './values.js';

const hosted = {
  /** The hosted checkout address, where to send the customer. */
  url: text,
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
  id: text,
  /** State of the order, as `status` of an order. */
  status: orderStatus,
  /** Customer email address. */
  email: text,
};
const rest = {
  /** Crypto address presented to the customer. */
  crypto_address: nullableText,
  /** Satoshis the customer must send. */
  crypto_value: nullableInteger,
  /** Crypto confirmations needed. */
  confirmations_needed: integer,
  /** A fixed marker for payments, rather than a product. */
  product_id: text,
  /** Price in `currency`. */
  value: decimal,
  /** How many are ordered. */
  quantity: integer,
  /** ISO 4217 code. */
  currency: text,
  /** Payment gateway. */
  gateway: text,
  /** Crypto channel. The specification does not describe it. */
  crypto_channel: nullableText,
  /** Price in USD. */
  usd_value: decimal,
  /** Exchange rate. */
  exchange_rate: decimal,
  /** When the payment was created. */
  created_at: timestamp,
  /** When the payment was last updated. */
  updated_at: timestamp,
  /** A payment address for the chosen gateway. */
  url: text,
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

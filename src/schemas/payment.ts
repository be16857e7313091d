import * as z from 'zod/mini';
import { decimal } from './decimal.js';
import { isJsonObject } from './json.js';
import { orderStatus } from './order.js';
import { type ResourceSchema, resource, variants } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/**
 * A payment in the integrated flow: where to send the customer (specification: Payment result).
 *
 * @example
 * const reading = hostedPaymentSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const hostedPaymentSchema = resource({ url: z.string() }, {});

/**
 * A payment in the white-label flow: an order-shaped record (specification: Payment result).
 *
 * @example
 * const reading = whiteLabelPaymentSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const whiteLabelPaymentSchema = resource(
  { id: z.string(), status: orderStatus, email: z.string() },
  {
    crypto_address: z.nullable(z.string()),
    crypto_value: z.nullable(z.int()),
    confirmations_needed: z.int(),
    product_id: z.string(),
    value: decimal,
    quantity: z.int(),
    currency: z.string(),
    gateway: z.string(),
    crypto_channel: z.nullable(z.string()),
    usd_value: decimal,
    exchange_rate: decimal,
    created_at: timestamp,
    updated_at: timestamp,
    url: z.string(),
  },
);

/** A payment on the provider's own page. */
export type HostedPayment = InferOutput<typeof hostedPaymentSchema>;
/** A payment on a page of the seller's. */
export type WhiteLabelPayment = InferOutput<typeof whiteLabelPaymentSchema>;
/** A payment of either flow: a white-label one has an `id`. */
export type Payment = HostedPayment | WhiteLabelPayment;

/**
 * A payment of either flow; a white-label one has an `id`.
 *
 * @example
 * const reading = paymentSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const paymentSchema: ResourceSchema<Payment> = variants<Payment>((value) =>
  isJsonObject(value) && 'id' in value ? whiteLabelPaymentSchema : hostedPaymentSchema,
);

import * as z from 'zod/mini';
import { decimal } from './decimal.js';
import { fileSchema } from './file.js';
import { isJsonObject, jsonObject } from './json.js';
import { openInteger, openText } from './open.js';
import { type ResourceSchema, resource, variants } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/** How many are left; `∞` where stock is not counted. */
const stock = z.custom<number | '∞'>(
  (value) => value === '∞' || Number.isSafeInteger(value),
  'expected integer or "∞"',
);

/** The payment gateways of the newer variant (specification: Product). */
export const GATEWAYS = [
  'paypal',
  'stripe',
  'cashapp',
  'bitcoin',
  'ethereum',
  'litecoin',
  'bitcoin_cash',
  'perfect_money',
  'skrill',
  'dogecoin',
  'bnb',
  'polygon',
] as const;

/** The types of a product of the newer variant. */
export const PRODUCT_TYPES = ['file', 'serials', 'dynamic', 'service'] as const;

/** The types of a field that the checkout asks for. */
export const CUSTOM_FIELD_TYPES = [
  'select',
  'number',
  'text',
  'hidden',
  'textarea',
  'checkbox',
  'country_dropdown',
] as const;

const gateways = z.array(openText<(typeof GATEWAYS)[number]>());

const customField = z.looseObject({
  type: openText<(typeof CUSTOM_FIELD_TYPES)[number]>(),
  name: z.string(),
  required: z.boolean(),
});

const inBothVariants = {
  description: z.string(),
  stock,
  price: decimal,
  currency: z.string(),
  gateways,
  image: z.nullable(fileSchema),
  info: z.nullable(z.string()),
  file: z.nullable(fileSchema),
  stock_delimiter: z.string(),
  maximum_quantity: z.nullable(z.int()),
  minimum_quantity: z.int(),
  stock_amount: z.nullable(z.int()),
  dynamic_url: z.nullable(z.string()),
  unlisted: z.boolean(),
  private: z.boolean(),
  vpn_block: z.boolean(),
  seller_note: z.nullable(z.string()),
  max_risk_level: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
};

/**
 * A product whose `product_type` is text (specification: Product, newer variant).
 *
 * @example
 * const reading = newerProductSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const newerProductSchema = resource(
  {
    id: z.string(),
    title: z.string(),
    product_type: openText<(typeof PRODUCT_TYPES)[number]>(),
  },
  {
    ...inBothVariants,
    custom: z.array(customField),
    customer_details_required: z.boolean(),
    warranty: z.nullable(z.string()),
    warranty_duration: z.nullable(z.int()),
    redirect_url: z.nullable(z.string()),
    hide_stock: z.nullable(z.boolean()),
    theme: z.string(),
  },
);

/**
 * A product whose `product_type` is an integer: 1 file, 2 serials, 3 dynamic, 4 service (older variant).
 *
 * @example
 * const reading = olderProductSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const olderProductSchema = resource(
  {
    id: z.string(),
    title: z.string(),
    product_type: openInteger<1 | 2 | 3 | 4>(),
  },
  {
    ...inBothVariants,
    custom: z.nullable(jsonObject),
    theme: z.int(),
    crypto_confirmations: z.int(),
    paypal_email_delivery: z.boolean(),
    webhook_url: z.nullable(z.string()),
  },
);

/** A product of today's variant, as {@link newerProductSchema} reads it. */
export type NewerProduct = InferOutput<typeof newerProductSchema>;
/** A product of the earlier variant, as {@link olderProductSchema} reads it. */
export type OlderProduct = InferOutput<typeof olderProductSchema>;
/** A product of either variant: {@link isOlderProduct} tells them apart. */
export type Product = NewerProduct | OlderProduct;

/**
 * A product of either variant, told apart by the type of `product_type`.
 *
 * @example
 * const reading = productSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const productSchema: ResourceSchema<Product> = variants<Product>((value) =>
  isJsonObject(value) && typeof value.product_type === 'number'
    ? olderProductSchema
    : newerProductSchema,
);

/**
 * Narrows a product to the older variant, whose `product_type` is an integer.
 *
 * @example
 * for await (const product of client.products.list()) {
 *   if (isOlderProduct(product)) log(product.id);
 * }
 */
export function isOlderProduct(product: Product): product is OlderProduct {
  return typeof product.product_type === 'number';
}

import * as z from 'zod/mini';
import { fileSchema } from './file.js';
import { type RecordOf, type ResourceSchema, resource, variants } from './resource.js';
import {
  decimal,
  flag,
  integer,
  isJsonObject,
  jsonObject,
  nullableInteger,
  nullableText,
  openInteger,
  openText,
  text,
  timestamp,
} from './values.js';

/** The number of items left; `∞` if the provider does not count the stock. */
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

/** The types of a custom checkout field. */
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

const customField = {
  /** Kind of the input. */
  type: openText<(typeof CUSTOM_FIELD_TYPES)[number]>(),
  /** Name of the input. */
  name: text,
  /** Whether the input is required. */
  required: flag,
};
/** A custom input field of the checkout. */
export type CustomField = {
  [Name in keyof typeof customField]: z.output<(typeof customField)[Name]>;
};
const customFieldSchema: z.ZodMiniObject<typeof customField, z.core.$loose> =
  z.looseObject(customField);

const identity = {
  /** Unique identifier. */
  id: text,
  /** Display title. */
  title: text,
};

const inBothVariants = {
  /** Description in raw markdown. */
  description: text,
  /**
   * Current stock count. `∞` when the product is of the file type (unless `stock_amount` is set), the dynamic type
   * or the service type.
   */
  stock,
  /** Price for 1 quantity, in `currency`. */
  price: decimal,
  /** ISO 4217 code used at checkout. */
  currency: text,
  /** Enabled payment gateways. */
  gateways,
  /** Image of the product. */
  image: z.nullable(fileSchema),
  /** The goods for the stock. For the serials type, they are split by `stock_delimiter`. */
  info: nullableText,
  /** File that is used when the type is file. */
  file: z.nullable(fileSchema),
  /** Splits stock out of `info`. Default `,`. */
  stock_delimiter: text,
  /** Max order quantity. Default `null`: as high as stock. */
  maximum_quantity: nullableInteger,
  /** Min order quantity. Default 1. */
  minimum_quantity: integer,
  /** Stock limit for the file type. `null`: unlimited. */
  stock_amount: nullableInteger,
  /** URL called to generate goods for the dynamic type. */
  dynamic_url: nullableText,
  /** When true, the product is not listed on the storefront, and still reachable by direct link. */
  unlisted: flag,
  /** When true, the product is not listed; in the newer variant, nor is it accessible. */
  private: flag,
  /** Whether VPNs and proxies are blocked at checkout. */
  vpn_block: flag,
  /** Seller note, returned in responses. */
  seller_note: nullableText,
  /** Highest customer risk level before an order is blocked. Default 30. */
  max_risk_level: integer,
  /** When the product was created. */
  created_at: timestamp,
  /** When the product was last updated. */
  updated_at: timestamp,
};

const newerRequired = {
  ...identity,
  /** Type of the product: `file`, `serials`, `dynamic` or `service`. */
  product_type: openText<(typeof PRODUCT_TYPES)[number]>(),
};
const newerRest = {
  ...inBothVariants,
  /** Custom checkout input fields. */
  custom: z.array(customFieldSchema),
  /** Whether checkout requires the customer's name and address. */
  customer_details_required: flag,
  /** Warranty text sent to the customer. */
  warranty: nullableText,
  /** Warranty duration in seconds. */
  warranty_duration: nullableInteger,
  /** Where the customer is redirected after a successful checkout. */
  redirect_url: nullableText,
  /** When true, the exact stock is hidden, and replaced by in stock or out of stock. */
  hide_stock: z.nullable(flag),
  /** Theme, returned in responses. */
  theme: text,
};
type Newer = RecordOf<typeof newerRequired, typeof newerRest>;

/** A product of the newer variant, as {@link newerProductSchema} reads it. */
export type NewerProduct = { [Field in keyof Newer]: Newer[Field] };

/**
 * A product whose `product_type` is text (specification: Product, newer variant).
 *
 * @example
 * const reading = newerProductSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const newerProductSchema: ResourceSchema<NewerProduct> = resource(newerRequired, newerRest);

const olderRequired = {
  ...identity,
  /** 1 = file, 2 = serials (`info` is split by `stock_delimiter`), 3 = dynamic, 4 = service. */
  product_type: openInteger<1 | 2 | 3 | 4>(),
};
const olderRest = {
  ...inBothVariants,
  /** Custom checkout input fields. The specification does not show their shape. */
  custom: z.nullable(jsonObject),
  /** Theme, returned in responses. */
  theme: integer,
  /** Confirmations required to consider a crypto transaction complete. Default 1. */
  crypto_confirmations: integer,
  /** Returned in responses. The specification does not describe it. */
  paypal_email_delivery: flag,
  /** URL called for every order status update of this product's orders. */
  webhook_url: nullableText,
};
type Older = RecordOf<typeof olderRequired, typeof olderRest>;

/** A product of the older variant, as {@link olderProductSchema} reads it. */
export type OlderProduct = { [Field in keyof Older]: Older[Field] };

/**
 * A product whose `product_type` is an integer: 1 file, 2 serials, 3 dynamic, 4 service (older variant).
 *
 * @example
 * const reading = olderProductSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const olderProductSchema: ResourceSchema<OlderProduct> = resource(olderRequired, olderRest);

/** A product of either variant. {@link isOlderProduct} distinguishes them. */
export type Product = NewerProduct | OlderProduct;

/**
 * A product of either variant, distinguished by the type of `product_type`.
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

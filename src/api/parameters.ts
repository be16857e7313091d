import * as z from 'zod/mini';
import { decimal } from '../schemas/decimal.js';
import { jsonObject } from '../schemas/json.js';
import { CUSTOM_FIELD_TYPES, GATEWAYS, PRODUCT_TYPES } from '../schemas/product.js';

// What requests hold. The client takes names and types from these, and leaves the checking to the
// provider, who may know of more than the specification shows.

/** Checked against what is known, and typed so that a program can name what comes later. */
type Open<Known> = z.ZodMiniType<Known | (string & {}), Known | (string & {})>;

/** More than anything costs. */
const MOST_MONEY = 1_000_000_000;
/** An amount of money: a number, or decimal text as it comes back. */
export const amount = z.custom<number | string>(
  (value) => decimal.safeParse(value).success && Math.abs(Number(value)) <= MOST_MONEY,
  {
    error: ({ input }) =>
      decimal.safeParse(input).success
        ? `has to be at most ${MOST_MONEY}`
        : 'has to be a decimal number',
  },
);
/** What has to be there has to say something. */
const text = z.string().check(z.minLength(1));
const count = z.int().check(z.minimum(1));
const currency = z.string().check(z.regex(/^[A-Za-z]{3}$/, 'has to be an ISO 4217 code'));
const httpsUrl = z.string().check(z.regex(/^https:/, 'has to begin with https://'));
const gateway: Open<(typeof GATEWAYS)[number]> = z.enum(GATEWAYS);
const productType: Open<(typeof PRODUCT_TYPES)[number]> = z.enum(PRODUCT_TYPES);
const customFieldType: Open<(typeof CUSTOM_FIELD_TYPES)[number]> = z.enum(CUSTOM_FIELD_TYPES);

/** The query of every list (specification: Limits). */
export const listQuery = z.object({
  page: z._default(z.int().check(z.minimum(1)), 1),
  per_page: z._default(z.int().check(z.minimum(10), z.maximum(50)), 20),
});

const requiredOfProduct = {
  title: text,
  description: z.string(),
  price: amount,
  currency,
};

const optionalInProduct = {
  unlisted: z.boolean(),
  private: z.boolean(),
  vpn_block: z.boolean(),
  stock_amount: z.nullable(z.int().check(z.minimum(0))),
  dynamic_url: z.nullable(z.string()),
  info: z.nullable(z.string()),
};

const limitsOfProduct = {
  maximum_quantity: z.nullable(count),
  minimum_quantity: count,
  stock_delimiter: text,
  max_risk_level: z.int().check(z.minimum(0), z.maximum(100)),
};

// Apart from the fields, because an update has no defaults: it changes what it sends, and nothing else.
const productDefaults = {
  maximum_quantity: z._default(limitsOfProduct.maximum_quantity, null),
  minimum_quantity: z._default(limitsOfProduct.minimum_quantity, 1),
  stock_delimiter: z._default(limitsOfProduct.stock_delimiter, ','),
  max_risk_level: z._default(limitsOfProduct.max_risk_level, 30),
};

// What is required is not shown for the newer variant: the same as in the older one, all of which its example sends.
const newerRequired = {
  ...requiredOfProduct,
  product_type: productType,
  gateways: z.array(gateway),
};
const newerOptional = {
  ...optionalInProduct,
  custom: z.array(z.object({ type: customFieldType, name: z.string(), required: z.boolean() })),
  customer_details_required: z.boolean(),
  warranty: z.nullable(z.string()),
  warranty_duration: z.nullable(z.int().check(z.minimum(0))),
  redirect_url: z.nullable(z.string()),
  hide_stock: z.nullable(z.boolean()),
};

const olderRequired = {
  ...requiredOfProduct,
  product_type: z.int().check(z.minimum(1), z.maximum(4)),
  gateways: z.array(z.string()),
};
const olderOptional = {
  ...optionalInProduct,
  custom: z.array(jsonObject),
  webhook_url: z.nullable(httpsUrl),
};

/** A new product (specification: Products). */
export const newProduct = {
  newer: z.extend(z.partial(z.object(newerOptional)), { ...newerRequired, ...productDefaults }),
  older: z.extend(z.partial(z.object(olderOptional)), {
    ...olderRequired,
    ...productDefaults,
    crypto_confirmations: z._default(z.int(), 1),
  }),
};

/** What to change of a product. */
export const productChanges = {
  newer: z.partial(z.object({ ...newerRequired, ...newerOptional, ...limitsOfProduct })),
  older: z.partial(
    z.object({
      ...olderRequired,
      ...olderOptional,
      ...limitsOfProduct,
      crypto_confirmations: z.int(),
    }),
  ),
};

const category = {
  title: text,
  product_ids: z.array(z.string()),
};
const blacklistEntry = {
  blacklist_type: z.int().check(z.minimum(1), z.maximum(3)),
  blocked_data: text,
};
const webhookEndpoint = {
  url: httpsUrl,
  events: z.array(z.string()),
};

/** A new category, blacklist entry or webhook endpoint, and what to change of one. */
export const newCategory = z.object({ ...category, unlisted: z.optional(z.boolean()) });
export const categoryChanges = z.partial(newCategory);
export const newBlacklistEntry = z.object({
  ...blacklistEntry,
  note: z.optional(z.nullable(z.string())),
});
export const blacklistEntryChanges = z.partial(newBlacklistEntry);
export const newWebhookEndpoint = z.object(webhookEndpoint);
export const webhookEndpointChanges = z.partial(newWebhookEndpoint);

const payment = {
  title: text,
  email: z.string().check(z.regex(/^\s*[^\s@]+@[^\s@]+\s*$/, 'has to be an email address')),
  currency,
  value: amount,
  gateway: z.string(),
  /** The specification shows no name for it. */
  confirmations: z._default(z.int().check(z.minimum(0), z.maximum(6)), 1),
  webhook_url: z.optional(httpsUrl),
};

/** A payment on the provider's own page (specification: Payments). */
export const newHostedPayment = z.object({
  ...payment,
  white_label: z.optional(z.literal(false)),
  return_url: z.string(),
});

/** A payment on a page of the seller's. */
export const newWhiteLabelPayment = z.object({
  ...payment,
  white_label: z.literal(true),
  ip_address: z.optional(z.string()),
});

/** A payment of either flow. */
export const newPayment = z.discriminatedUnion('white_label', [
  newHostedPayment,
  newWhiteLabelPayment,
]);

import * as z from 'zod/mini';
import { eventSchemas } from '../schemas/events.js';
import {
  CUSTOM_FIELD_TYPES,
  type CustomField,
  GATEWAYS,
  PRODUCT_TYPES,
} from '../schemas/product.js';
import { decimal, jsonObject } from '../schemas/values.js';
import type { SubscribedEvent } from '../schemas/webhook-endpoint.js';

// The parameters of requests. The client takes names and types from these schemas and leaves validation to
// the provider, which may accept more than the specification shows. A field that a record also has is
// documented at the record.

/** A schema that checks for known values, and whose type also allows values that the provider may add later. */
type Open<Known> = z.ZodMiniType<Known | (string & {}), Known | (string & {})>;

/** The largest amount of money, more than anything costs. */
const MOST_MONEY = 1_000_000_000;
/** An amount of money: a number, or decimal text as the provider returns it. */
export const amount = z.custom<number | string>(
  (value) => decimal.safeParse(value).success && Math.abs(Number(value)) <= MOST_MONEY,
  {
    error: ({ input }) =>
      decimal.safeParse(input).success
        ? `has to be at most ${MOST_MONEY}`
        : 'has to be a decimal number',
  },
);
/** Required text. It must not be empty. */
const text = z.string().check(z.minLength(1));
const count = z.int().check(z.minimum(1));
const confirmations = z.int().check(z.minimum(0));
const currency = z.string().check(z.regex(/^[A-Za-z]{3}$/, 'has to be an ISO 4217 code'));
const httpsUrl = z.string().check(z.regex(/^https:/, 'has to begin with https://'));
const gateway: Open<(typeof GATEWAYS)[number]> = z.enum(GATEWAYS);
const paymentGateway: Open<(typeof GATEWAYS)[number]> = z.string();
const isKnownEvent = (name: string): name is keyof typeof eventSchemas => name in eventSchemas;
const events: z.ZodMiniType<SubscribedEvent[], readonly SubscribedEvent[]> = z.array(
  z.enum(Object.keys(eventSchemas).filter(isKnownEvent)),
);
const productType: Open<(typeof PRODUCT_TYPES)[number]> = z.enum(PRODUCT_TYPES);
const customFieldType: Open<(typeof CUSTOM_FIELD_TYPES)[number]> = z.enum(CUSTOM_FIELD_TYPES);
const customField: z.ZodMiniType<CustomField, CustomField> = z.object({
  type: customFieldType,
  name: z.string(),
  required: z.boolean(),
});

/** The query of every list (specification: Limits). */
export const listQuery = z.object({
  /** The number of the page. Default 1. */
  page: z._default(z.int().check(z.minimum(1)), 1),
  /** The number of records in a page. Default 20, allowed 10 to 50. */
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

// Kept apart from the fields, because an update has no defaults: it changes only what it sends.
const productDefaults = {
  maximum_quantity: z._default(limitsOfProduct.maximum_quantity, null),
  minimum_quantity: z._default(limitsOfProduct.minimum_quantity, 1),
  stock_delimiter: z._default(limitsOfProduct.stock_delimiter, ','),
  max_risk_level: z._default(limitsOfProduct.max_risk_level, 30),
};

// The specification does not show what the newer variant requires. Assume the same as in the older one; the
// example of the newer variant sends all of it.
const newerRequired = {
  ...requiredOfProduct,
  product_type: productType,
  gateways: z.array(gateway),
};
const newerOptional = {
  ...optionalInProduct,
  custom: z.array(customField),
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
    crypto_confirmations: z._default(confirmations, 1),
  }),
};

/** The changes of a product. */
export const productChanges = {
  newer: z.partial(z.object({ ...newerRequired, ...newerOptional, ...limitsOfProduct })),
  older: z.partial(
    z.object({
      ...olderRequired,
      ...olderOptional,
      ...limitsOfProduct,
      crypto_confirmations: confirmations,
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
  events,
};

/** New categories, blacklist entries and webhook endpoints, and the changes of one. */
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
  /** Product title shown on the checkout page. */
  title: text,
  /** Customer email. */
  email: z.string().check(z.regex(/^\s*[^\s@]+@[^\s@]+\s*$/, 'has to be an email address')),
  /** ISO 4217 code. */
  currency,
  /** Price in that currency. */
  value: amount,
  /** Payment gateway name. The shop's payment settings need its account information. */
  gateway: paymentGateway,
  /** Crypto confirmations needed, 0 to 6. Default 1. The specification does not show the name of this parameter. */
  confirmations: z._default(z.int().check(z.minimum(0), z.maximum(6)), 1),
  /** Receives order status webhooks. */
  webhook_url: z.optional(httpsUrl),
};
const hostedPayment = {
  ...payment,
  /** When true, the order object is returned instead of a URL. */
  white_label: z.optional(z.literal(false)),
  /** Where the customer is redirected after payment. */
  return_url: z.string(),
};
const whiteLabelPayment = {
  ...payment,
  /** When true, the order object is returned instead of a URL. */
  white_label: z.literal(true),
  /** Customer IP. */
  ip_address: z.optional(z.string()),
};

/** A payment on the provider's own page (specification: Payments). */
export const newHostedPayment: z.ZodMiniObject<typeof hostedPayment> = z.object(hostedPayment);

/** A payment on the seller's own page. */
export const newWhiteLabelPayment: z.ZodMiniObject<typeof whiteLabelPayment> =
  z.object(whiteLabelPayment);

/** A payment of either flow. */
export const newPayment = z.discriminatedUnion('white_label', [
  newHostedPayment,
  newWhiteLabelPayment,
]);

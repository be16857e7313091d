import type * as z from 'zod/mini';
import { blacklistEntrySchema } from '../../schemas/blacklist-entry.js';
import { categorySchema } from '../../schemas/category.js';
import { eventSchemas } from '../../schemas/events.js';
import { fileSchema } from '../../schemas/file.js';
import { orderSchema } from '../../schemas/order.js';
import {
  hostedPaymentSchema,
  paymentSchema,
  whiteLabelPaymentSchema,
} from '../../schemas/payment.js';
import {
  GATEWAYS,
  newerProductSchema,
  olderProductSchema,
  PRODUCT_TYPES,
} from '../../schemas/product.js';
import type { ResourceSchema } from '../../schemas/resource.js';
import type { JsonObject } from '../../schemas/values.js';
import { webhookEndpointSchema } from '../../schemas/webhook-endpoint.js';
import { webhookLogSchema } from '../../schemas/webhook-log.js';
import type { Variant } from '../endpoint.js';
import { describe } from './descriptions.js';
import { type JsonSchema, recordsToJsonSchemas } from './json-schema.js';

/** The records of the specification, by their names in the document. */
const RECORDS: Readonly<Record<string, ResourceSchema<object> | z.ZodMiniObject>> = {
  NewerProduct: newerProductSchema,
  OlderProduct: olderProductSchema,
  Category: categorySchema,
  StoredFile: fileSchema,
  Order: orderSchema,
  BlacklistEntry: blacklistEntrySchema,
  WebhookEndpoint: webhookEndpointSchema,
  WebhookLog: webhookLogSchema,
  HostedPayment: hostedPaymentSchema,
  WhiteLabelPayment: whiteLabelPaymentSchema,
};

const STOCK: JsonSchema = { anyOf: [{ type: 'integer', minimum: 0 }, { const: '∞' }] };

const STATUS: JsonSchema = { type: 'integer', enum: [0, 51, 52, 53, 54, 55, 56, 100] };

/** The specified schemas of fields for which a receiver accepts more than the specification states. */
const STATED: Readonly<Record<string, JsonSchema['properties']>> = {
  NewerProduct: {
    stock: STOCK,
    product_type: { type: 'string', enum: [...PRODUCT_TYPES] },
    gateways: { type: 'array', items: { type: 'string', enum: [...GATEWAYS] } },
  },
  OlderProduct: { stock: STOCK, product_type: { type: 'integer', minimum: 1, maximum: 4 } },
  Order: {
    status: STATUS,
    product_id: { type: 'string' },
    custom: { type: 'object' },
  },
  WhiteLabelPayment: { status: STATUS },
  WebhookEndpoint: {
    events: { type: 'array', items: { type: 'string', enum: Object.keys(eventSchemas) } },
  },
  WebhookLog: { response: { type: 'string' }, response_headers: { type: 'object' } },
};
/** Fields that some deliveries hold and the specification does not list. */
const UNLISTED = ['payment_gateway', 'payment_request_id'];

const NAMES = new Map<unknown, string>(
  Object.entries(RECORDS).map(([name, schema]) => [schema, name]),
);

/** Returns the schemas of the records, without those of other variants. */
export function recordSchemas(variants: readonly Variant[]): JsonObject {
  const converted = Object.entries(recordsToJsonSchemas(RECORDS)).map(([name, schema]) => {
    const listed = Object.entries({ ...schema.properties, ...STATED[name] }).filter(
      ([field]) => !UNLISTED.includes(field),
    );
    return [name, describe({ ...schema, properties: Object.fromEntries(listed) }, name)];
  });
  const { NewerProduct, OlderProduct, ...others }: JsonObject = Object.fromEntries(converted);
  return {
    ...(variants.includes('newer') ? { NewerProduct } : {}),
    ...(variants.includes('older') ? { OlderProduct } : {}),
    ...others,
  };
}

export function refer(kind: 'schemas' | 'responses', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Returns the name of the record whose fields describe the parameters that create it. */
export function recordOf(returned: unknown): string {
  return NAMES.get(returned) ?? 'NewPayment';
}

/** Returns a reference to a record's schema; `{ type: 'object' }` for one without a name. */
export function referToRecord(schema: unknown): JsonObject {
  if (schema === paymentSchema) {
    return anyOf([hostedPaymentSchema, whiteLabelPaymentSchema].map(referToRecord));
  }
  const name = NAMES.get(schema);
  return name === undefined ? { type: 'object' } : refer('schemas', name);
}

export function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const [schema = {}, ...others] = schemas;
  return others.length === 0 ? schema : { anyOf: schemas };
}

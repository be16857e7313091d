import type * as z from 'zod/mini';
import { blacklistEntrySchema } from '../../schemas/blacklist-entry.js';
import { categorySchema } from '../../schemas/category.js';
import { fileSchema } from '../../schemas/file.js';
import type { JsonObject } from '../../schemas/json.js';
import { orderSchema } from '../../schemas/order.js';
import {
  hostedPaymentSchema,
  paymentSchema,
  whiteLabelPaymentSchema,
} from '../../schemas/payment.js';
import { newerProductSchema, olderProductSchema } from '../../schemas/product.js';
import type { ResourceSchema } from '../../schemas/resource.js';
import { webhookEndpointSchema } from '../../schemas/webhook-endpoint.js';
import { webhookLogSchema } from '../../schemas/webhook-log.js';
import type { Variant } from '../endpoint.js';
import { type JsonSchema, recordsToJsonSchemas } from './json-schema.js';

/** The records of the specification, by the names that they have in the document. */
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

const NAMES = new Map<unknown, string>(
  Object.entries(RECORDS).map(([name, schema]) => [schema, name]),
);

/** The schemas of the records, without what only another variant has. */
export function recordSchemas(variants: readonly Variant[]): Readonly<Record<string, JsonSchema>> {
  const { NewerProduct, OlderProduct, ...others } = recordsToJsonSchemas(RECORDS);
  return {
    ...(variants.includes('newer') ? { NewerProduct } : {}),
    ...(variants.includes('older') ? { OlderProduct } : {}),
    ...others,
  };
}

export function refer(kind: 'schemas' | 'responses', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A record by its name; one without a name may be any object. */
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

import { orderSchema } from './order.js';
import type { InferOutput, StandardSchema } from './standard-schema.js';
import { type JsonObject, jsonObject } from './values.js';

/**
 * Accepts any JSON object, for payloads whose shape the specification does not show. Bind a schema of your own
 * with `createReceiver({ events: { 'query:replied': mySchema } })`.
 */
const undocumented: StandardSchema<unknown, JsonObject> = jsonObject;

/**
 * The events of the specification, each with the schema of its payload.
 *
 * @example
 * const events = Object.keys(eventSchemas);
 */
export const eventSchemas = {
  'feedback:created': undocumented,
  'feedback:updated': undocumented,
  'order:created': orderSchema,
  'order:paid': orderSchema,
  'order:updated': orderSchema,
  'product:out_of_stock': undocumented,
  'query:created': undocumented,
  'query:replied': undocumented,
  'query:updated': undocumented,
};

/** Schemas by event name. Any Standard Schema: zod, valibot, arktype and others. */
export type EventSchemas = Readonly<Record<string, StandardSchema>>;

/** The payloads of handlers by event name. `Schemas` overrides the specification's payloads. */
export type Payloads<Schemas extends EventSchemas> = {
  [Event in keyof Schemas | keyof typeof eventSchemas]: Event extends keyof Schemas
    ? InferOutput<Schemas[Event]>
    : Event extends keyof typeof eventSchemas
      ? InferOutput<(typeof eventSchemas)[Event]>
      : never;
};

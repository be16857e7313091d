import * as z from 'zod/mini';
import type { eventSchemas } from './events.js';
import { type RecordOf, type ResourceSchema, resource } from './resource.js';
import { flag, text, timestamp } from './values.js';

declare const PROVIDERS: unique symbol;

/**
 * An event that a webhook endpoint subscribes to: one of the specification, or any event in a record that was
 * read. A literal must be one of the specification, because an endpoint with a mistyped event receives nothing.
 */
export type SubscribedEvent = keyof typeof eventSchemas | (string & { readonly [PROVIDERS]: true });

const required = {
  /** Unique identifier. */
  id: text,
  /** Destination of webhooks; HTTPS only. */
  url: text,
};
const rest = {
  /** Default true. The provider may disable the endpoint because of abuse or a high error rate. */
  enabled: flag,
  /** Subscribed event names. */
  events: z.array(
    z.custom<SubscribedEvent>((event) => typeof event === 'string', 'expected string'),
  ),
  /** When the endpoint was created. */
  created_at: timestamp,
  /** When the endpoint was last updated. Equals `created_at` if never updated. */
  updated_at: timestamp,
};
type Read = RecordOf<typeof required, typeof rest>;

/** A webhook endpoint of the account, as {@link webhookEndpointSchema} reads it. */
export type WebhookEndpoint = { [Field in keyof Read]: Read[Field] };

/**
 * An address that the provider sends webhooks to (specification: Webhook endpoint).
 *
 * @example
 * const reading = webhookEndpointSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const webhookEndpointSchema: ResourceSchema<WebhookEndpoint> = resource(required, rest);

import * as z from 'zod/mini';
import { type RecordOf, type ResourceSchema, resource } from './resource.js';
import { integer, jsonObject, nullableText, text, timestamp } from './values.js';

const required = {
  /** Unique identifier, also sent in the webhook request header. */
  id: text,
  /** Event name, also sent in the event request header. */
  event: text,
  /** Body that was sent. */
  payload: jsonObject,
};
const rest = {
  /** Destination. */
  url: text,
  /** Response body. */
  response: nullableText,
  /** HTTP status of the response; 0 while pending. */
  response_code: integer,
  /** Header name to header value. */
  response_headers: z.nullable(jsonObject),
  /** Number of retries so far. */
  retries: integer,
  /** Maximum retries for this request. */
  retry_limit: integer,
  /** Next automatic retry, when a retry is required. */
  next_retry_at: z.nullable(timestamp),
  /** When the webhook request was sent. */
  created_at: timestamp,
  /** When the log was last updated. */
  updated_at: timestamp,
};
type Read = RecordOf<typeof required, typeof rest>;

/** An entry of the provider's webhook log, as {@link webhookLogSchema} reads it. */
export type WebhookLog = { [Field in keyof Read]: Read[Field] };

/**
 * The provider's record of one webhook it sent (specification: Webhook log).
 *
 * @example
 * const reading = webhookLogSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const webhookLogSchema: ResourceSchema<WebhookLog> = resource(required, rest);

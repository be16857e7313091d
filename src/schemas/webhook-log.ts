import * as z from 'zod/mini';
import { type RecordOf, type ResourceSchema, resource } from './resource.js';
import { jsonObject, timestamp } from './values.js';

const required = {
  /** Unique identifier, also sent in the webhook request header. */
  id: z.string(),
  /** Event name, also sent in the event request header. */
  event: z.string(),
  /** Body that was sent. */
  payload: jsonObject,
};
const rest = {
  /** Destination. */
  url: z.string(),
  /** Response body. */
  response: z.nullable(z.string()),
  /** HTTP status of the response; 0 while pending. */
  response_code: z.int(),
  /** Header name to header value. */
  response_headers: z.nullable(jsonObject),
  /** Number of retries so far. */
  retries: z.int(),
  /** Maximum retries for this request. */
  retry_limit: z.int(),
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

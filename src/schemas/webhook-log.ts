import * as z from 'zod/mini';
import { jsonObject } from './json.js';
import { resource } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/**
 * The provider's record of one webhook it sent (specification: Webhook log).
 *
 * @example
 * const reading = webhookLogSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const webhookLogSchema = resource(
  { id: z.string(), event: z.string(), payload: jsonObject },
  {
    url: z.string(),
    response: z.nullable(z.string()),
    /** The receiver's HTTP status; 0 while pending. */
    response_code: z.int(),
    response_headers: z.nullable(jsonObject),
    retries: z.int(),
    retry_limit: z.int(),
    next_retry_at: z.nullable(timestamp),
    created_at: timestamp,
    updated_at: timestamp,
  },
);

/** An entry of the provider's log of what it has sent, as {@link webhookLogSchema} reads it. */
export type WebhookLog = InferOutput<typeof webhookLogSchema>;

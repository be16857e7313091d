import * as z from 'zod/mini';
import { resource } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/**
 * An address that the provider sends webhooks to (specification: Webhook endpoint).
 *
 * @example
 * const reading = webhookEndpointSchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const webhookEndpointSchema = resource(
  { id: z.string(), url: z.string() },
  {
    enabled: z.boolean(),
    events: z.array(z.string()),
    created_at: timestamp,
    updated_at: timestamp,
  },
);

/** A webhook endpoint of the account, as {@link webhookEndpointSchema} reads it. */
export type WebhookEndpoint = InferOutput<typeof webhookEndpointSchema>;

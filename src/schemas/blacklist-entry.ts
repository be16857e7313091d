import * as z from 'zod/mini';
import { openInteger } from './open.js';
import { resource } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/**
 * A blocked email (1), IP address (2) or country code (3) (specification: Blacklist entry).
 *
 * @example
 * const reading = blacklistEntrySchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const blacklistEntrySchema = resource(
  {
    id: z.string(),
    blacklist_type: openInteger<1 | 2 | 3>(),
    blocked_data: z.string(),
  },
  {
    note: z.nullable(z.string()),
    created_at: timestamp,
    updated_at: timestamp,
  },
);

/** An entry of the account's blacklist (specification: Blacklist). */
export type BlacklistEntry = InferOutput<typeof blacklistEntrySchema>;

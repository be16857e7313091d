import { type RecordOf, type ResourceSchema, resource } from './resource.js';
import { nullableText, openInteger, text, timestamp } from './values.js';

const required = {
  /** Unique identifier. */
  id: text,
  /** 1 = email, 2 = IP address, 3 = country code. */
  blacklist_type: openInteger<1 | 2 | 3>(),
  /** The blocked country code, email or IP address. */
  blocked_data: text,
};
const rest = {
  /** Internal reason. */
  note: nullableText,
  /** When the entry was created. */
  created_at: timestamp,
  /** When the entry was last updated. Equals `created_at` if never updated. */
  updated_at: timestamp,
};
type Read = RecordOf<typeof required, typeof rest>;

/** An entry of the account's blacklist (specification: Blacklist). */
export type BlacklistEntry = { [Field in keyof Read]: Read[Field] };

/**
 * A blocked email (1), IP address (2) or country code (3) (specification: Blacklist entry).
 *
 * @example
 * const reading = blacklistEntrySchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const blacklistEntrySchema: ResourceSchema<BlacklistEntry> = resource(required, rest);

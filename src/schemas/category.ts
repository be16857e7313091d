import * as z from 'zod/mini';
import { fileSchema } from './file.js';
import { type RecordOf, type ResourceSchema, resource } from './resource.js';
import { flag, text, timestamp } from './values.js';

const required = {
  /** Unique identifier. */
  id: text,
  /** Display title. */
  title: text,
};
const rest = {
  /** Ids of the products in the category. */
  product_ids: z.array(text),
  /** When true, the category is found only by direct URL. */
  unlisted: flag,
  /** The image; `null` if there is none. */
  image: z.nullable(fileSchema),
  /** When the category was created. */
  created_at: timestamp,
  /** When the category was last updated. Equals `created_at` if never updated. */
  updated_at: timestamp,
};
type Read = RecordOf<typeof required, typeof rest>;

/** A category of products, as {@link categorySchema} reads it. */
export type Category = { [Field in keyof Read]: Read[Field] };

/**
 * A group of products (specification: Category).
 *
 * @example
 * const reading = categorySchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const categorySchema: ResourceSchema<Category> = resource(required, rest);

import * as z from 'zod/mini';
import { fileSchema } from './file.js';
import { resource } from './resource.js';
import type { InferOutput } from './standard-schema.js';
import { timestamp } from './time.js';

/**
 * A group of products (specification: Category).
 *
 * @example
 * const reading = categorySchema.read(JSON.parse(text));
 * if ('value' in reading) log(reading.value, reading.issues);
 */
export const categorySchema = resource(
  { id: z.string(), title: z.string() },
  {
    product_ids: z.array(z.string()),
    unlisted: z.boolean(),
    image: z.nullable(fileSchema),
    created_at: timestamp,
    updated_at: timestamp,
  },
);

/** A category of products, as {@link categorySchema} reads it. */
export type Category = InferOutput<typeof categorySchema>;

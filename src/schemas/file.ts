import * as z from 'zod/mini';
import { integer, text } from './values.js';

const metadata = {
  /** Size in bytes. */
  size: integer,
  /** File name, including its extension. */
  filename: text,
  /** MIME type. */
  mime_type: text,
};
const metadataSchema: z.ZodMiniObject<typeof metadata, z.core.$loose> = z.looseObject(metadata);

const fields = {
  /** Identifier of the stored file. */
  id: text,
  /** Storage label. */
  storage: text,
  /** URL of the hosted file. */
  url: text,
  /** Size, name and type of the file. */
  metadata: metadataSchema,
};

/** The type of {@link fileSchema}. Named, so that the shipped declarations of other records keep its comments. */
export interface FileSchema extends z.ZodMiniObject<typeof fields, z.core.$loose> {}

/**
 * A stored file (specification: File object). Used by product image, product file, category image.
 *
 * @example
 * const file = fileSchema.safeParse(JSON.parse(text));
 */
export const fileSchema: FileSchema = z.looseObject(fields);

/** A file that the provider stores, such as the file of a product. */
export type StoredFile = z.output<typeof fileSchema>;
